#include "compiler/codegen/host_target.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "compiler/targets/target_names.h"
#include "support/cpu_cache.h"

namespace padlock::compiler {
namespace {

/// LLVM's one-time set-up, the documented exception to "no global state".
void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

/// Not kept in a static variable: its destructor would need an exit handler, and a library may not leave one behind.
llvm::Triple host_triple() { return llvm::Triple(llvm::sys::getProcessTriple()); }

std::string host_features() {
  std::string text;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", feature.second ? '+' : '-', feature.first().str());
  return text;
}

using SubtargetInfo = std::unique_ptr<llvm::MCSubtargetInfo>;

SubtargetInfo subtarget(const llvm::Target& target, const std::string& cpu, const std::string& features) {
  return SubtargetInfo(target.createMCSubtargetInfo(host_triple(), cpu, features));
}

/// Lists, sorted, the CPU's instruction sets that LLVM can detect. LLVM's other feature names are tuning.
std::vector<std::string> instruction_sets(const llvm::MCSubtargetInfo& subtarget) {
  std::vector<std::string> names;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (subtarget.checkFeatures("+" + feature.first().str())) names.push_back(feature.first().str());
  std::ranges::sort(names);
  return names;
}

/// LLVM ends the process when asked for 64-bit code for a CPU without 64 bits, so it is never asked.
bool runs_64_bits(const llvm::MCSubtargetInfo& subtarget) { return subtarget.checkFeatures("+64bit"); }

/// Lists LLVM's names of the CPUs that code can be made for.
std::vector<std::string> cpus_of(const llvm::Target& target, const llvm::MCSubtargetInfo& any) {
  std::vector<std::string> names;
  for (const llvm::SubtargetSubTypeKV& cpu : any.getAllProcessorDescriptions())
    if (runs_64_bits(*subtarget(target, cpu.Key, ""))) names.emplace_back(cpu.Key);
  return names;
}

/// Returns NAME of "host:NAME", a CPU that code can be made for.
Result<std::string> cpu_of(std::string_view name, const llvm::Target& target, const llvm::MCSubtargetInfo& here) {
  if (!name.starts_with(kHostPrefix)) return unknown_target(name, cpus_of(target, here));
  std::string cpu(name.substr(kHostPrefix.size()));
  if (!here.isCPUStringValid(cpu)) return unknown_target(name, cpus_of(target, here));
  if (runs_64_bits(*subtarget(target, cpu, ""))) return cpu;
  return unknown_target(name, {}, fmt::format("{} is a 32-bit CPU", cpu));
}

/// SSE2, which all CPUs have, shuffles one block; AVX2 two, AVX-512 four. pshufb permutes any elements of 16 bytes,
/// vpermd the words of 32 bytes. AVX-512 permutes each element size by itself, bytes with VBMI.
VectorPermutes permutes_of(const llvm::MCSubtargetInfo& subtarget) {
  const auto has = [&](const char* features) { return subtarget.checkFeatures(features); };
  const int narrow = has("+ssse3") ? 16 : 0;
  const int words = has("+avx512f") ? 64 : has("+avx2") ? 32 : narrow;
  const bool mixed = has("+avx512bw") && has("+avx512vl");  // in vectors of every width
  return {.bytes = {mixed && has("+avx512vbmi") ? 64 : narrow, mixed ? 64 : narrow, words, words},
          .blocks = mixed          ? 64
                    : has("+avx2") ? 32
                                   : 16,
          .masks = mixed};
}

}  // namespace

Result<HostTarget> HostTarget::create(std::string_view name) {
  if (host_triple().getArch() != llvm::Triple::x86_64)
    return unavailable(fmt::format("the host target is x86-64; this machine is {}", host_triple().getArchName().str()));
  initialize_llvm();
  std::string problem;
  HostTarget made;
  made.target_ = llvm::TargetRegistry::lookupTarget(host_triple(), problem);
  if (made.target_ == nullptr) return unavailable("LLVM has no back end for this machine: " + problem);
  const std::string here_cpu = llvm::sys::getHostCPUName().str();
  const std::string here_features = host_features();
  const SubtargetInfo here = subtarget(*made.target_, here_cpu, here_features);
  if (!runs_64_bits(*here))
    return unavailable(fmt::format("the host target is x86-64; LLVM takes this machine for a {}", here_cpu));
  if (name == "host") {
    made.features_ = {.cpu = here_cpu, .features = here_features};
    made.features_.cache_bytes = cache_bytes_of_level(3).value_or(made.features_.cache_bytes);
    made.features_.core_cache_bytes = cache_bytes_of_level(2).value_or(made.features_.core_cache_bytes);
  } else {
    PADLOCK_TRY(made.features_.cpu, cpu_of(name, *made.target_, *here));
  }
  const SubtargetInfo other = name == "host" ? nullptr : subtarget(*made.target_, made.features_.cpu, "");
  const llvm::MCSubtargetInfo& wanted = other ? *other : *here;
  made.features_.f16c = wanted.checkFeatures("+f16c");
  made.features_.rounds_floats = wanted.checkFeatures("+sse4.1");
  made.features_.fma = wanted.checkFeatures("+fma");
  made.features_.mask_registers = wanted.checkFeatures("+avx512bw") && wanted.checkFeatures("+avx512vl");
  made.permutes_ = permutes_of(wanted);
  made.vector_bytes_ = wanted.checkFeatures("+avx512f") ? 64 : wanted.checkFeatures("+avx") ? 32 : 16;
  made.required_features_ = instruction_sets(wanted);
  made.runs_here_ = !other || std::ranges::includes(instruction_sets(*here), made.required_features_);
  return made;
}

MachineHandle HostTarget::machine() const {
  if (auto kept = pool_->take()) return {kept.release(), {pool_}};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // A loop within one line of code is as fast wherever it lies. A loop on two lines was 1.5 times as slow where its
  // loads met others in what the CPU remembers of their addresses.
  options.LoopAlignment = 64;
  return {target_->createTargetMachine(host_triple(), features_.cpu, features_.features, options, llvm::Reloc::PIC_,
                                       llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default),
          {pool_}};
}

}  // namespace padlock::compiler
