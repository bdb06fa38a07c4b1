#include "compiler/codegen/host_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <llvm/TargetParser/Host.h>

#include "compiler/codegen/host_architecture.h"
#include "compiler/targets/target_names.h"
#include "support/cpu/features.h"
#include "support/cpu_cache.h"

namespace padlock::compiler {
namespace {

/// A CPU by the name that was asked for, and by LLVM's.
struct NamedCpu {
  HostArchitecture architecture;
  std::string name, llvm_name;
  std::string features = {};  // "+avx2,-avx512f,..."; empty: as LLVM has them
};

/// Returns the back ends that LLVM has, this machine's first: its CPUs win where two have one name ("generic").
std::vector<HostArchitecture> architectures() {
  std::vector<HostArchitecture> found;
  for (const ArchitectureInfo& info : kArchitectures)
    if (auto made = HostArchitecture::create(info.architecture)) found.push_back(*std::move(made));
  std::ranges::stable_partition(found, [](const auto& one) { return one.architecture() == kOwnArchitecture; });
  return found;
}

Result<NamedCpu> own_cpu() {
  if (!kOwnArchitecture)
    return unavailable(fmt::format("host targets are x86-64 and AArch64; this machine is {}",
                                   llvm::Triple(llvm::sys::getProcessTriple()).getArchName().str()));
  PADLOCK_TRY(HostArchitecture architecture, HostArchitecture::create(*kOwnArchitecture));
  const std::string cpu = llvm::sys::getHostCPUName().str();
  NamedCpu own{.architecture = std::move(architecture), .name = cpu, .llvm_name = cpu, .features = own_features()};
  if (const auto refusal = own.architecture.refusal_of(*own.architecture.subtarget(cpu, own.features));
      !refusal.empty())
    return unavailable(fmt::format("the host target is {}; LLVM takes this machine for {}, {}",
                                   info_of(own.architecture.architecture()).name, cpu, refusal));
  return own;
}

std::unexpected<Error> unknown(std::string_view target, const std::vector<HostArchitecture>& architectures) {
  std::vector<std::string> names;
  for (const TargetLevel& level : kLevels) names.emplace_back(level.name);
  for (const HostArchitecture& architecture : architectures)
    for (std::string& cpu : architecture.cpus()) names.push_back(std::move(cpu));
  return unknown_target(target, names);
}

/// Returns the CPU of "host:NAME", one that code can be made for.
Result<NamedCpu> named_cpu(std::string_view target) {
  std::vector<HostArchitecture> all = architectures();
  if (!target.starts_with(kHostPrefix)) return unknown(target, all);
  const std::string name(target.substr(kHostPrefix.size()));
  const auto* const level = std::ranges::find(kLevels, name, &TargetLevel::name);
  const std::string cpu = level != kLevels.end() ? std::string(level->cpu) : name;
  for (HostArchitecture& architecture : all) {
    if (level != kLevels.end() && level->architecture != architecture.architecture()) continue;
    if (!architecture.knows(cpu)) continue;
    if (const auto refusal = architecture.refusal_of(*architecture.subtarget(cpu)); !refusal.empty())
      return unknown_target(target, {}, fmt::format("{} is {}", cpu, refusal));
    NamedCpu found{.architecture = std::move(architecture), .name = name, .llvm_name = cpu};
    if (level != kLevels.end()) found.features = level->tuning;
    return found;
  }
  if (level == kLevels.end()) return unknown(target, all);
  return unavailable(
      fmt::format("target '{}': LLVM has no back end for {}", target, info_of(level->architecture).name));
}

}  // namespace

Result<HostTarget> HostTarget::create(std::string_view name) {
  const bool is_own = name == "host";
  PADLOCK_TRY(NamedCpu cpu, is_own ? own_cpu() : named_cpu(name));
  const HostArchitecture& architecture = cpu.architecture;
  const auto subtarget = architecture.subtarget(cpu.llvm_name, cpu.features);
  HostTarget made;
  made.features_ = {.cpu = std::move(cpu.llvm_name), .features = std::move(cpu.features)};
  if (is_own) {
    made.features_.cache_bytes = cache_bytes_of_level(3).value_or(made.features_.cache_bytes);
    made.features_.core_cache_bytes = cache_bytes_of_level(2).value_or(made.features_.core_cache_bytes);
  }
  architecture.describe(*subtarget, made.features_);
  made.permutes_ = architecture.permutes(*subtarget);
  made.vector_bytes_ = architecture.vector_bytes(*subtarget);
  made.required_features_ = architecture.instruction_sets(*subtarget);
  made.runs_here_ = is_own || (architecture.architecture() == kOwnArchitecture &&
                               std::ranges::all_of(made.required_features_, [](const std::string& feature) {
                                 return cpu_has(feature).value_or(false);
                               }));
  made.cpu_ = std::move(cpu.name);
  made.architecture_ = std::make_shared<const HostArchitecture>(std::move(cpu.architecture));
  return made;
}

MachineHandle HostTarget::machine() const {
  if (auto kept = pool_->take()) return {kept.release(), {pool_}};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // A loop within one line of code is as fast wherever it lies. A loop on two lines was 1.5 times as slow where its
  // loads met others in what the CPU remembers of their addresses.
  options.LoopAlignment = 64;
  return {architecture_->target().createTargetMachine(architecture_->triple(), features_.cpu, features_.features,
                                                      options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                      llvm::CodeGenOptLevel::Default),
          {pool_}};
}

}  // namespace padlock::compiler
