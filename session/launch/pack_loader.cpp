#include "session/launch/pack_loader.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/gpu_targets.h"
#include "runtime/pack/contract.h"
#include "runtime/pack/pack_header.h"
#include "support/cpu/architecture.h"
#include "support/cpu/features.h"

namespace padlock::session {
namespace {

/// Error: unavailable, naming the architecture that is there and the one that is wanted.
Status check_architecture(int elf_number) {
  if (kOwnArchitecture && info_of(*kOwnArchitecture).elf_number == elf_number) return {};
  const auto* const made_for = std::ranges::find(kArchitectures, elf_number, &ArchitectureInfo::elf_number);
  return unavailable(fmt::format("it is for {}, this machine is {}",
                                 made_for == kArchitectures.end() ? "an unknown architecture" : made_for->name,
                                 kOwnArchitecture ? info_of(*kOwnArchitecture).name : "another one"));
}

}  // namespace

Status PackLoader::check_target(const runtime::PackTarget& target) const {
  if (target.kind() != device_.traits().code_kind)
    return unavailable(target.kind() == abi::CodeKind::ptx ? "it is for GPUs" : "it is for CPUs");
  if (target.kind() == abi::CodeKind::host_image) PADLOCK_CHECK(check_architecture(target.elf_number));
  PADLOCK_CHECK(device_.check_target(std::string(target.name)));
  return check_cpu(target.features);
}

Result<const runtime::PackTarget*> PackLoader::choose(const runtime::PackProgram& packed) const {
  std::string reasons;
  for (const runtime::PackTarget& target : packed.targets) {
    const Status runs = check_target(target);
    if (runs) return &target;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", target.name, runs.error().message);
  }
  return unavailable(fmt::format("the pack has no code of {} for device {} ({})", packed.name, device_.id().to_string(),
                                 reasons.empty() ? "none at all" : reasons));
}

Result<PackLoader::State> PackLoader::load_code(const Program& program, const runtime::PackTarget& target,
                                                const runtime::PackConfig& code) const {
  State state = make_state(program, device_);
  state->config = code.config;
  state->target = target.description;
  state->reason = target.reason;
  PADLOCK_TRY(abi::CompiledCode made, runtime::read_code(program.ir(), target.kind(), code));
  if (!made.cubin.empty()) {  // other GPUs cannot run it
    const std::optional<runtime::GpuFacts> gpu = device_.facts().gpu;
    if (!gpu || gpu->architecture() != target.name) made.cubin.clear();
  }
  PADLOCK_TRY(state->loaded, device_.load(program.ir(), std::move(made)));
  return state;
}

/// Adds the configs that were tuned for regions of sizes, beside the one for other sizes.
Status PackLoader::add_choices(CompiledProgram::State& state, const runtime::PackTarget& target) const {
  if (target.choices.empty()) return {};
  std::vector<tuner::Choice> choices;
  for (const runtime::PackChoice& choice : target.choices)
    choices.push_back({.region = std::string(choice.region), .config = std::string(choice.config), .provenance = {}});
  auto by_region = tuner::ProgramChoices::create(state.program.ir(), choices, state.config);
  if (!by_region) return std::unexpected(std::move(by_region).error());
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;
  for (const runtime::PackConfig& code : std::span(target.codes).subspan(1)) {
    PADLOCK_TRY(State made, load_code(state.program, target, code));
    compiled.emplace(code.config, std::move(made));
  }
  state.tuned.set(
      std::make_shared<const TunedConfigs>(std::string(target.reason), *std::move(by_region), std::move(compiled)));
  return {};
}

Result<PackLoader::State> PackLoader::load(const runtime::PackProgram& packed) const {
  const runtime::DeviceTraits& traits = device_.traits();
  if (traits.emulated && traits.code_kind)
    return invalid_argument(fmt::format("expected a device that a pack's code is made for (host, cuda:N), found {}",
                                        device_.id().to_string()));
  auto parsed = Program::from_text(packed.text);
  if (!parsed) return runtime::damaged_pack(fmt::format("program {}: {}", packed.name, parsed.error().to_string()));
  const Program program = *std::move(parsed);
  if (!traits.code_kind) {
    State state = make_state(program, device_);
    PADLOCK_TRY(state->loaded, device_.load(program.ir(), {}));
    return state;
  }
  PADLOCK_TRY(const runtime::PackTarget* const target, choose(packed));
  PADLOCK_TRY(State state, load_code(program, *target, target->codes.front()));
  PADLOCK_CHECK(add_choices(*state, *target));
  return state;
}

}  // namespace padlock::session
