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

namespace padlock::compiler {
namespace {

struct Host {
  using Compiler = HostCompiler;
  using Config = HostConfig;
  using Options = HostOptions;
  static std::vector<Schedule> schedules(const Compiler& compiler, Kernel kernel, const Config& config) {
    return schedules_for_host(std::move(kernel), config, nullptr, compiler.permutes());
  }
  static Options options_of(std::optional<Config> config, const TargetCompiler::Options& options) {
    return {.config = config, .bounds_check = options.bounds_check};
  }
  static std::vector<std::string> required_features(const Compiler& compiler) { return compiler.required_features(); }
  static Status check_runs_here(const Compiler& compiler) { return compiler.check_runs_here(); }
  static Result<abi::CompiledCode> comparison(Compiler&, bool /*for_simt*/) {
    return invalid_argument("expected a GPU's target, found that of a CPU, whose memory needs no kernel to compare it");
  }
};

struct Gpu {
  using Compiler = GpuCompiler;
  using Config = GpuConfig;
  using Options = GpuOptions;
  static std::vector<Schedule> schedules(const Compiler&, Kernel kernel, const Config& config) {
    return schedules_for_gpu(std::move(kernel), config);
  }
  static Options options_of(std::optional<Config> config, const TargetCompiler::Options& options) {
    return {.config = config, .bounds_check = options.bounds_check, .for_simt = options.for_simt};
  }
  static std::vector<std::string> required_features(const Compiler&) { return {}; }
  static Status check_runs_here(const Compiler&) { return {}; }
  static Result<abi::CompiledCode> comparison(Compiler& compiler, bool for_simt) {
    return compiler.compile_comparison(for_simt);
  }
};

template <class Target>
class Adapter final : public TargetCompiler {
 public:
  explicit Adapter(std::unique_ptr<typename Target::Compiler> compiler) : compiler_(std::move(compiler)) {}

  Config default_config() const override { return compiler_->default_config(); }
  Result<Config> parse_config(std::string_view text) const override {
    PADLOCK_TRY(const OwnConfig config, OwnConfig::parse(text, compiler_->default_config()));
    if (text.empty()) return config;
    const std::vector<OwnConfig> space = OwnConfig::all();
    if (std::ranges::find(space, config) == space.end())
      return invalid_argument(fmt::format("expected a config of the search space, found {}", config.to_string()));
    return config;
  }
  std::vector<Config> all_configs() const override {
    const std::vector<OwnConfig> space = OwnConfig::all();
    return {space.begin(), space.end()};
  }
  Result<SearchSpace> search_space(const ir::Program& program, std::span<const ir::Binding> bindings) override {
    SearchSpace space;
    PADLOCK_TRY(const std::vector<Kernel> kernels, lower(program, nullptr, &space.passes));
    std::vector<OwnConfig> configs = OwnConfig::all();
    configs.insert(configs.begin(), compiler_->default_config());
    std::set<CodeKey> seen;
    for (const OwnConfig& config : configs) {
      std::vector<Schedule> schedules;
      for (const Kernel& kernel : kernels)
        std::ranges::move(Target::schedules(*compiler_, kernel, config), std::back_inserter(schedules));
      space.passes.scheduled += static_cast<int>(schedules.size());
      if (!seen.insert(key_of_code(schedules, config)).second) continue;
      SearchPoint point{.config = config, .costs = {}};
      for (const ir::Binding& binding : bindings) point.costs.push_back(costs_of(schedules, binding));
      PADLOCK_TRY(const bool sound, none_is_refuted(std::move(schedules), space.passes));
      if (sound) space.points.push_back(std::move(point));
    }
    return space;
  }
  std::string description() const override { return compiler_->target_description(); }

  Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return compiler_->compile(program, made);
  }
  Result<abi::CompiledCode> compile_comparison(bool for_simt) override {
    return Target::comparison(*compiler_, for_simt);
  }
  std::vector<std::string> required_features() const override { return Target::required_features(*compiler_); }
  Status check_runs_here() const override { return Target::check_runs_here(*compiler_); }
  Result<std::vector<Proof>> prove(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return compiler_->prove(program, made);
  }
  Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return compiler_->emit(program, stage, made);
  }

 private:
  using OwnConfig = typename Target::Config;

  /// Returns the key of all kernels, and of how their rows are distributed to tasks.
  static CodeKey key_of_code(const std::vector<Schedule>& schedules, const OwnConfig& config) {
    CodeKey code = {static_cast<std::uint64_t>(task_bytes(config))};
    for (const Schedule& schedule : schedules) {
      const CodeKey key = key_of(schedule);
      code.push_back(key.size());
      code.insert(code.end(), key.begin(), key.end());
    }
    return code;
  }

  /// Returns the costs of each kernel, in the last of its schedules that serves the binding.
  static std::vector<KernelCost> costs_of(const std::vector<Schedule>& schedules, const ir::Binding& binding) {
    std::vector<KernelCost> costs;
    for (const Schedule& schedule : schedules) {
      if (schedule.serves.empty())
        costs.push_back(cost_of(schedule, binding));
      else if (std::ranges::all_of(schedule.serves, [&](const auto& guard) { return guard_holds(guard, binding); }))
        costs.back() = cost_of(schedule, binding);
    }
    return costs;
  }

  Result<bool> none_is_refuted(std::vector<Schedule> schedules, PassCounts& passes) {
    bool sound = true;
    for (Schedule& schedule : schedules) {
      ++passes.proved;
      PADLOCK_TRY(const Proof proof, compiler_->prove(std::move(schedule)));
      sound &= proof.refuted() == nullptr;
    }
    return sound;
  }

  Result<typename Target::Options> made_of(const Options& options) const {
    if (!options.config) return Target::options_of(std::nullopt, options);
    if (const auto* const own = std::get_if<OwnConfig>(&*options.config)) return Target::options_of(*own, options);
    return invalid_argument(
        fmt::format("expected a config of target {}, found {}", description(), to_string(*options.config)));
  }

  std::unique_ptr<typename Target::Compiler> compiler_;
};

}  // namespace

Result<std::unique_ptr<TargetCompiler>> TargetCompiler::create(const std::string& target) {
  if (abi::is_gpu(target)) {
    PADLOCK_TRY(auto compiler, GpuCompiler::create(target));
    return std::make_unique<Adapter<Gpu>>(std::move(compiler));
  }
  PADLOCK_TRY(auto compiler, HostCompiler::create(target));
  return std::make_unique<Adapter<Host>>(std::move(compiler));
}

}  // namespace padlock::compiler
