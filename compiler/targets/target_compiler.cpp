#include "compiler/targets/target_compiler.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "abi/gpu_targets.h"
#include "abi/launch_plan.h"
#include "compiler/pipeline.h"
#include "compiler/schedule/model/schedule_key.h"
#include "compiler/targets/compiler_base.h"

namespace padlock::compiler {
namespace {

/// Returns the key of all kernels' code, and of how rows are distributed to tasks.
CodeKey key_of_code(const std::vector<Schedule>& schedules, const Config& config) {
  CodeKey code = {static_cast<std::uint64_t>(task_bytes(config))};
  for (const Schedule& schedule : schedules) {
    const CodeKey key = key_of(schedule);
    code.push_back(key.size());
    code.insert(code.end(), key.begin(), key.end());
  }
  return code;
}

/// Returns the cost of each kernel, by its last schedule that serves the binding.
std::vector<KernelCost> costs_of(const std::vector<Schedule>& schedules, const ir::Binding& binding) {
  std::vector<KernelCost> costs;
  for (const Schedule& schedule : schedules) {
    if (schedule.serves.empty())
      costs.push_back(cost_of(schedule, binding));
    else if (std::ranges::all_of(schedule.serves, [&](const auto& guard) { return guard_holds(guard, binding); }))
      costs.back() = cost_of(schedule, binding);
  }
  return costs;
}

/// Returns whether one of the bindings has a plan; without bindings, whether some binding may have one.
bool may_plan(const std::vector<Schedule>& schedules, std::span<const ir::Binding> bindings) {
  return std::ranges::any_of(schedules, [&](const Schedule& schedule) {
    const auto plans = [&](const ir::Binding& binding) { return makes_plan(schedule, binding); };
    return schedule.row_chunks() != nullptr && (bindings.empty() || std::ranges::any_of(bindings, plans));
  });
}

/// Returns whether a config forbids plans.
bool has_no_plan(const Config& config) {
  const auto* const host = std::get_if<HostConfig>(&config);
  return host != nullptr && !host->plan;
}

}  // namespace

Result<std::unique_ptr<TargetCompiler>> TargetCompiler::create(const std::string& target) {
  return abi::is_gpu(target) ? make_gpu_compiler(target) : make_host_compiler(target);
}

Result<Config> CompilerBase::parse_config(std::string_view text) const {
  const auto parse = [text](const auto& standard) -> Result<Config> { return standard.parse(text, standard); };
  PADLOCK_TRY(const Config config, std::visit(parse, default_config()));
  const std::vector<Config> space = all_configs();
  if (text.empty() || std::ranges::find(space, config) != space.end()) return config;
  return invalid_argument(fmt::format("expected a config of the search space, found {}", to_string(config)));
}

std::vector<Config> CompilerBase::all_configs() const {
  return std::visit(
      [](const auto& own) {
        const auto space = own.all();
        return std::vector<Config>(space.begin(), space.end());
      },
      default_config());
}

Result<SearchSpace> CompilerBase::search_space(const ir::Program& program, std::span<const ir::Binding> bindings) {
  SearchSpace space;
  PADLOCK_TRY(const std::vector<Kernel> kernels, lower(program, nullptr, &space.passes));
  std::vector<Config> configs = all_configs();
  configs.insert(configs.begin(), default_config());
  std::set<CodeKey> seen;
  bool plans = false;
  for (const Config& config : configs) {
    std::vector<Schedule> scheduled;
    for (const Kernel& kernel : kernels)
      std::ranges::move(schedules(kernel, {.config = config}), std::back_inserter(scheduled));
    space.passes.scheduled += static_cast<int>(scheduled.size());
    plans |= may_plan(scheduled, bindings);
    if (has_no_plan(config) && !plans) continue;
    if (!seen.insert(key_of_code(scheduled, config)).second) continue;
    SearchPoint point{.config = config, .costs = {}};
    for (const ir::Binding& binding : bindings) point.costs.push_back(costs_of(scheduled, binding));
    PADLOCK_TRY(const bool sound, none_is_refuted(std::move(scheduled), space.passes));
    if (sound) space.points.push_back(std::move(point));
  }
  return space;
}

Result<bool> CompilerBase::none_is_refuted(std::vector<Schedule> schedules, PassCounts& passes) {
  bool sound = true;
  for (Schedule& schedule : schedules) {
    ++passes.proved;
    // `compile` needs the same proofs, and finds them in the cache.
    PADLOCK_TRY(const Proof proof, list_obligations(std::move(schedule), {.cache = &proofs_}));
    sound &= proof.refuted() == nullptr;
  }
  return sound;
}

Result<TargetCompiler::Options> CompilerBase::with_config(const Options& options) const {
  Options chosen = options;
  const Config standard = default_config();
  if (!chosen.config) chosen.config = standard;
  if (chosen.config->index() == standard.index()) return chosen;
  return invalid_argument(
      fmt::format("expected a config of target {}, found {}", description(), to_string(*chosen.config)));
}

/// The options must outlive the returned function.
ScheduleMaker CompilerBase::scheduler(const Options& options) const {
  return [&options, this](Kernel kernel) { return schedules(std::move(kernel), options); };
}

Result<std::vector<std::vector<ProvenKernel>>> CompilerBase::prove_all(const ir::Program& program,
                                                                       const Options& options) {
  return prove_kernels(program, options.edits, scheduler(options), proofs_, options.log);
}

Result<abi::CompiledCode> CompilerBase::compile(const ir::Program& program, const Options& options) {
  PADLOCK_TRY(const Options chosen, with_config(options));
  return make_code(program, chosen);
}

Result<std::vector<Proof>> CompilerBase::prove(const ir::Program& program, const Options& options) {
  PADLOCK_TRY(const Options chosen, with_config(options));
  return list_proofs(program, chosen.edits, scheduler(chosen), proofs_, chosen.log);
}

Result<std::string> CompilerBase::emit(const ir::Program& program, Stage stage, const Options& options) {
  PADLOCK_TRY(const Options chosen, with_config(options));
  if (stage == Stage::kernel) return kernel_text(program, chosen.edits);
  if (stage == Stage::schedule) return schedule_text(program, chosen.edits, scheduler(chosen));
  return make_text(program, stage, chosen);
}

}  // namespace padlock::compiler
