#include "compiler/target_compiler.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "compiler/schedule_key.h"
#include "ir/target_name.h"

namespace padlock::compiler {
namespace {

struct Host {
  using Compiler = HostCompiler;
  using Config = HostConfig;
  using Options = HostOptions;
  static std::int64_t task_bytes(const Config& config) { return std::int64_t{config.task_kib} << 10; }
  static Schedule schedule(Kernel kernel, const Config& config) { return schedule_for_host(std::move(kernel), config); }
  static Options options_of(const Config& config, const TargetCompiler::Options& options) {
    return {.config = config, .bounds_check = options.bounds_check};
  }
  static std::vector<std::string> required_features(const Compiler& compiler) { return compiler.required_features(); }
  static Status check_runs_here(const Compiler& compiler) { return compiler.check_runs_here(); }
};

struct Gpu {
  using Compiler = GpuCompiler;
  using Config = GpuConfig;
  using Options = GpuOptions;
  static std::int64_t task_bytes(const Config&) { return std::int64_t{64} << 10; }
  static Schedule schedule(Kernel kernel, const Config& config) { return schedule_for_gpu(std::move(kernel), config); }
  static Options options_of(const Config& config, const TargetCompiler::Options& options) {
    return {.config = config, .bounds_check = options.bounds_check, .for_simt = options.for_simt};
  }
  static std::vector<std::string> required_features(const Compiler&) { return {}; }
  static Status check_runs_here(const Compiler&) { return {}; }
};

template <class Target>
class Adapter final : public TargetCompiler {
 public:
  explicit Adapter(std::unique_ptr<typename Target::Compiler> compiler) : compiler_(std::move(compiler)) {}

  Result<std::string> complete_config(std::string_view text) const override {
    PADLOCK_TRY(const Config config, Config::parse(text, compiler_->default_config()));
    const std::vector<Config> space = Config::all();
    if (!text.empty() && std::ranges::find(space, config) == space.end())
      return invalid_argument(fmt::format("expected a config of the search space, found {}", config.to_string()));
    return config.to_string();
  }
  std::vector<std::string> all_configs() const override {
    std::vector<std::string> texts;
    for (const Config& config : Config::all()) texts.push_back(config.to_string());
    return texts;
  }
  Result<std::vector<std::string>> search_space(const ir::Program& program) override {
    std::vector<Config> configs = Config::all();
    configs.insert(configs.begin(), compiler_->default_config());
    std::vector<std::string> space;
    std::set<CodeKey> seen;
    for (const Config& config : configs) {
      PADLOCK_TRY(CodeKey key, key_of_code(program, config));
      if (!seen.insert(std::move(key)).second) continue;
      PADLOCK_TRY(const std::vector<Proof> proofs, compiler_->prove(program, {.config = config}));
      if (std::ranges::none_of(proofs, &Proof::refuted)) space.push_back(config.to_string());
    }
    return space;
  }
  Result<std::vector<KernelCost>> costs(const ir::Binding& binding, const std::string& text) override {
    PADLOCK_TRY(const Config config, Config::parse(text, compiler_->default_config()));
    PADLOCK_TRY(std::vector<Kernel> kernels, lower(binding.program()));
    std::vector<KernelCost> costs;
    for (Kernel& kernel : kernels) costs.push_back(cost_of(Target::schedule(std::move(kernel), config), binding));
    return costs;
  }
  std::string description() const override { return compiler_->target_description(); }
  std::int64_t task_bytes(const std::string& config) const override {
    const auto parsed = Config::parse(config, compiler_->default_config());
    return Target::task_bytes(parsed.value_or(compiler_->default_config()));
  }

  Result<ir::CompiledCode> compile(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return compiler_->compile(program, made);
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
  using Config = typename Target::Config;

  /// Of all kernels, and of how their rows are dealt to tasks.
  static Result<CodeKey> key_of_code(const ir::Program& program, const Config& config) {
    PADLOCK_TRY(std::vector<Kernel> kernels, lower(program));
    CodeKey code = {static_cast<std::uint64_t>(Target::task_bytes(config))};
    for (Kernel& kernel : kernels) {
      const CodeKey key = key_of(Target::schedule(std::move(kernel), config));
      code.push_back(key.size());
      code.insert(code.end(), key.begin(), key.end());
    }
    return code;
  }

  Result<typename Target::Options> made_of(const Options& options) const {
    PADLOCK_TRY(const Config config, Config::parse(options.config, compiler_->default_config()));
    return Target::options_of(config, options);
  }

  std::unique_ptr<typename Target::Compiler> compiler_;
};

}  // namespace

Result<std::unique_ptr<TargetCompiler>> TargetCompiler::create(const std::string& target) {
  if (ir::is_gpu(target)) {
    PADLOCK_TRY(auto compiler, GpuCompiler::create(target));
    return std::make_unique<Adapter<Gpu>>(std::move(compiler));
  }
  PADLOCK_TRY(auto compiler, HostCompiler::create(target));
  return std::make_unique<Adapter<Host>>(std::move(compiler));
}

}  // namespace padlock::compiler
