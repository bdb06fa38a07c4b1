#include "api/pack_loader.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/target_name.h"
#include "runtime/cpu_features.h"
#include "runtime/pack/contract.h"
#include "runtime/pack/pack_header.h"

namespace padlock::api {
Status PackLoader::check_target(const PackTarget& target, const CudaDevice* gpu) const {
  const bool for_gpus = target.kind() == ir::CodeKind::ptx;
  if (for_gpus != (gpu != nullptr)) return unavailable(for_gpus ? "it is for GPUs" : "it is for CPUs");
  if (gpu != nullptr) return check_runs(gpu->facts, std::string(target.name));
  return runtime::check_cpu(target.features);
}

Result<const PackTarget*> PackLoader::choose(const PackProgram& packed, const Device& device,
                                             const CudaDevice* gpu) const {
  std::string reasons;
  for (const PackTarget& target : packed.targets) {
    const Status runs = check_target(target, gpu);
    if (runs) return &target;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", target.name, runs.error().message);
  }
  return unavailable(fmt::format("the pack has no code of {} for device {} ({})", packed.name, device.to_string(),
                                 reasons.empty() ? "none at all" : reasons));
}

Result<PackLoader::State> PackLoader::load_code(const Program& program, const Device& device, const CudaDevice* gpu,
                                                const PackTarget& target, const PackConfig& code) const {
  State state = make_state(program, device, parallel_for_);
  state->config = code.config;
  state->target = target.description;
  state->task_bytes = code.task_bytes;
  state->reason = target.reason;
  PADLOCK_TRY(ir::CompiledCode made, runtime::read_code(program.ir(), target.kind(), code));
  if (gpu != nullptr) {
    PADLOCK_TRY(state->loaded,
                runtime::cuda::LoadedProgram::load(*gpu->context, gpu->facts, program.ir(), std::move(made)));
  } else {
    PADLOCK_CHECK(set_image(*state, std::move(made)));
  }
  return state;
}

/// The configs that were tuned for regions of sizes, beside the one that serves the others.
Status PackLoader::add_choices(CompiledProgram::State& state, const CudaDevice* gpu, const PackTarget& target) const {
  if (target.choices.empty()) return {};
  std::vector<tuner::Choice> choices;
  for (const PackChoice& choice : target.choices)
    choices.push_back({.region = std::string(choice.region), .config = std::string(choice.config), .provenance = {}});
  auto by_region = tuner::ProgramChoices::create(state.program.ir(), choices, state.config);
  if (!by_region) return std::unexpected(std::move(by_region).error());
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;
  for (const PackConfig& code : std::span(target.codes).subspan(1)) {
    PADLOCK_TRY(State made, load_code(state.program, state.device, gpu, target, code));
    compiled.emplace(code.config, std::move(made));
  }
  state.tuned.set(
      std::make_shared<const TunedConfigs>(std::string(target.reason), *std::move(by_region), std::move(compiled)));
  return {};
}

Result<CompiledProgram> PackLoader::load(const PackProgram& packed, const Device& device) {
  if (device.kind == DeviceKind::simt)
    return invalid_argument("expected a device that a pack's code is made for (host, cuda:N), found simt");
  const CudaDevice* gpu = nullptr;
  if (device.kind == DeviceKind::cuda) {
    PADLOCK_TRY(gpu, cuda_.open(device));
  }
  auto parsed = Program::from_text(packed.text);
  if (!parsed) return runtime::damaged_pack(fmt::format("program {}: {}", packed.name, parsed.error().to_string()));
  const Program program = *std::move(parsed);
  if (device.kind == DeviceKind::reference) return CompiledProgram(make_state(program, device, parallel_for_));
  PADLOCK_TRY(const PackTarget* const target, choose(packed, device, gpu));
  PADLOCK_TRY(State state, load_code(program, device, gpu, *target, target->codes.front()));
  PADLOCK_CHECK(add_choices(*state, gpu, *target));
  return CompiledProgram(std::move(state));
}

}  // namespace padlock::api
