#include "compiler/codegen/host_target.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "abi/gpu_targets.h"
#include "support/cpu_cache.h"
#include "support/suggestion.h"

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

/// Not kept: what is would be destroyed when the process ends, by a handler that a library may not leave behind.
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

/// The instruction sets that LLVM asks a machine about; its other feature names are tuning. Sorted.
std::vector<std::string> instruction_sets(const llvm::MCSubtargetInfo& subtarget) {
  std::vector<std::string> names;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (subtarget.checkFeatures("+" + feature.first().str())) names.push_back(feature.first().str());
  std::ranges::sort(names);
  return names;
}

/// pshufb takes any element, in 16 bytes; vpermd words of 32 bytes; AVX-512 each size by itself, bytes with VBMI.
VectorPermutes permutes_of(const llvm::MCSubtargetInfo& subtarget) {
  const auto has = [&](const char* features) { return subtarget.checkFeatures(features); };
  const int narrow = has("+ssse3") ? 16 : 0;
  const int words = has("+avx512f") ? 64 : has("+avx2") ? 32 : narrow;
  const bool mixed = has("+avx512bw") && has("+avx512vl");  // in vectors of every width
  return {.bytes = {mixed && has("+avx512vbmi") ? 64 : narrow, mixed ? 64 : narrow, words, words}, .masks = mixed};
}

/// What to write instead of a target that there is not.
std::string target_hint(std::string_view name, const llvm::MCSubtargetInfo& here) {
  constexpr std::string_view kPrefix = "host:";
  if (!name.starts_with(kPrefix) && here.isCPUStringValid(name)) return fmt::format("; write 'host:{}'", name);
  std::vector<std::string_view> names;
  if (name.starts_with(kPrefix)) {
    for (const auto& cpu : here.getAllProcessorDescriptions()) names.emplace_back(cpu.Key);
    const auto closest = closest_name(name.substr(kPrefix.size()), names);
    return closest ? fmt::format("; did you mean 'host:{}'?", *closest) : std::string();
  }
  const std::vector<std::string> architectures = abi::gpu_targets();
  names.assign(architectures.begin(), architectures.end());
  names.emplace_back("host");
  return did_you_mean(name, names);
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
  if (name == "host") {
    made.features_ = {.cpu = here_cpu, .features = here_features};
    made.features_.cache_bytes = cache_bytes_of_level(3).value_or(made.features_.cache_bytes);
  } else {
    constexpr std::string_view kPrefix = "host:";
    made.features_.cpu = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
    if (made.features_.cpu.empty() || !here->isCPUStringValid(made.features_.cpu))
      return invalid_argument(
          fmt::format("unknown target '{}': expected host, or host:CPU with an LLVM CPU name such as host:x86-64, "
                      "host:x86-64-v3, host:x86-64-v4, host:skylake-avx512, host:sapphirerapids or host:znver4{}",
                      name, target_hint(name, *here)));
  }
  const SubtargetInfo other = name == "host" ? nullptr : subtarget(*made.target_, made.features_.cpu, "");
  const llvm::MCSubtargetInfo& wanted = other ? *other : *here;
  made.features_.f16c = wanted.checkFeatures("+f16c");
  made.features_.rounds_floats = wanted.checkFeatures("+sse4.1");
  made.features_.fma = wanted.checkFeatures("+fma");
  made.features_.mask_registers = wanted.checkFeatures("+avx512bw") && wanted.checkFeatures("+avx512vl");
  made.features_.permutes_halves = wanted.checkFeatures("+avx2");
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
  // A loop that fits a line of code is as fast wherever it lies: of two lines the same loop was 1.5 times as slow where
  // its loads met others in what the CPU remembers of their addresses.
  options.LoopAlignment = 64;
  return {target_->createTargetMachine(host_triple(), features_.cpu, features_.features, options, llvm::Reloc::PIC_,
                                       llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default),
          {pool_}};
}

}  // namespace padlock::compiler
