#include "compiler/codegen/host_architecture.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "support/cpu/aarch64_features.h"
#include "support/cpu/features.h"
#include "support/cpu/x86_features.h"

namespace padlock::compiler {
namespace {

/// LLVM's one-time set-up, the documented exception to "no global state". (CMake defines what LLVM was built with.)
void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
#if defined(PADLOCK_LLVM_X86)
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
#endif
#if defined(PADLOCK_LLVM_AARCH64)
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#endif
  });
}

/// Not kept in a static variable: its destructor would need an exit handler, and a library may not leave one behind.
llvm::Triple triple_of(Architecture architecture) {
  if (architecture == kOwnArchitecture) return llvm::Triple(llvm::sys::getProcessTriple());
  return llvm::Triple(architecture == Architecture::x86_64 ? "x86_64-pc-linux-gnu" : "aarch64-unknown-linux-gnu");
}

std::vector<std::string_view> names_of(Architecture architecture) {
  std::vector<std::string_view> names;
  if (architecture == Architecture::aarch64) {
    for (const aarch64::Feature& feature : aarch64::kFeatures) names.push_back(feature.name);
  } else {
    for (const x86::Feature& feature : x86::kFeatures) names.push_back(feature.name);
    names.insert(names.end(), x86::kAvx10Versions.begin(), x86::kAvx10Versions.end());
  }
  std::ranges::sort(names);
  return names;
}

/// SSE2, which all CPUs have, shuffles one block; AVX2 two, AVX-512 four. pshufb permutes any elements of 16 bytes,
/// vpermd the words of 32 bytes. AVX-512 permutes each element size by itself, bytes with VBMI.
VectorPermutes x86_permutes(const llvm::MCSubtargetInfo& cpu) {
  const auto has = [&](const char* features) { return cpu.checkFeatures(features); };
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

Result<HostArchitecture> HostArchitecture::create(Architecture architecture) {
  initialize_llvm();
  std::string problem;
  llvm::Triple triple = triple_of(architecture);
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr)
    return unavailable(fmt::format("LLVM has no back end for {}: {}", info_of(architecture).name, problem));
  return HostArchitecture(architecture, std::move(triple), target);
}

HostArchitecture::SubtargetInfo HostArchitecture::subtarget(const std::string& cpu, const std::string& features) const {
  return SubtargetInfo(target_->createMCSubtargetInfo(triple_, cpu, features));
}

bool HostArchitecture::knows(const std::string& cpu) const { return subtarget("generic")->isCPUStringValid(cpu); }

std::string_view HostArchitecture::refusal_of(const llvm::MCSubtargetInfo& cpu) const {
  if (architecture_ == Architecture::x86_64) return cpu.checkFeatures("+64bit") ? "" : "a 32-bit CPU";
  return cpu.checkFeatures("+neon") ? "" : "a CPU without vectors";
}

std::vector<std::string> HostArchitecture::cpus() const {
  std::vector<std::string> names;
  for (const llvm::SubtargetSubTypeKV& cpu : subtarget("generic")->getAllProcessorDescriptions())
    if (refusal_of(*subtarget(cpu.Key)).empty()) names.emplace_back(cpu.Key);
  return names;
}

std::vector<std::string> HostArchitecture::instruction_sets(const llvm::MCSubtargetInfo& cpu) const {
  std::vector<std::string> names;
  for (const std::string_view name : names_of(architecture_))
    if (cpu.checkFeatures(fmt::format("+{}", name))) names.emplace_back(name);
  return names;
}

void HostArchitecture::describe(const llvm::MCSubtargetInfo& cpu, TargetFeatures& features) const {
  features.architecture = architecture_;
  if (architecture_ == Architecture::aarch64) {
    // All of it is in the base, Armv8.0-A.
    features.f16c = features.rounds_floats = features.fma = features.pairs_accesses = features.tests_floats = true;
    return;
  }
  features.f16c = cpu.checkFeatures("+f16c");
  features.rounds_floats = cpu.checkFeatures("+sse4.1");
  features.fma = cpu.checkFeatures("+fma");
  features.mask_registers = cpu.checkFeatures("+avx512bw") && cpu.checkFeatures("+avx512vl");
  if (features.fma) features.operand_bytes = features.mask_registers ? 64 : 32;
}

int HostArchitecture::vector_bytes(const llvm::MCSubtargetInfo& cpu) const {
  if (architecture_ == Architecture::aarch64) return 16;
  return cpu.checkFeatures("+avx512f") ? 64 : cpu.checkFeatures("+avx") ? 32 : 16;
}

/// AArch64's `tbl` permutes any elements of 16 bytes, and each of its CPUs has it.
VectorPermutes HostArchitecture::permutes(const llvm::MCSubtargetInfo& cpu) const {
  if (architecture_ == Architecture::aarch64) return {.bytes = {16, 16, 16, 16}, .blocks = 16, .masks = false};
  return x86_permutes(cpu);
}

std::string own_features() {
  std::string text;
  const auto add = [&](bool is_there, std::string_view name) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", is_there ? '+' : '-', name);
  };
  if (kOwnArchitecture == Architecture::aarch64) {
    // LLVM reads a text of the system's (/proc/cpuinfo), which an emulator leaves as it is.
    for (const aarch64::Feature& feature : aarch64::kFeatures) add(cpu_has(feature.name).value_or(false), feature.name);
  } else {
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) add(feature.second, feature.first());
  }
  return text;
}

}  // namespace padlock::compiler
