#include "compiler/target_compiler.h"

#include <algorithm>

#include <fmt/format.h>

namespace padlock::compiler {
namespace {

struct Host {
  using Compiler = HostCompiler;
  using Config = HostConfig;
  using Options = HostOptions;
  static std::int64_t task_bytes(const Config& config) { return std::int64_t{config.task_kib} << 10; }
  static auto compile(Compiler& compiler, const ir::Program& program, const Options& options) {
    return compiler.compile(program, options);
  }
  static Result<GpuCode> compile_for_gpu(Compiler& compiler, const ir::Program&, const Options&) {
    return internal_error("expected a GPU's target, found " + compiler.target_description());
  }
};

struct Gpu {
  using Compiler = GpuCompiler;
  using Config = GpuConfig;
  using Options = GpuOptions;
  static std::int64_t task_bytes(const Config&) { return std::int64_t{64} << 10; }
  static auto compile(Compiler& compiler, const ir::Program& program, const Options& options) {
    return compiler.compile_simt(program, options);
  }
  static Result<GpuCode> compile_for_gpu(Compiler& compiler, const ir::Program& program, const Options& options) {
    return compiler.compile(program, options);
  }
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
  std::string description() const override { return compiler_->target_description(); }
  std::int64_t task_bytes(const std::string& config) const override {
    const auto parsed = Config::parse(config, compiler_->default_config());
    return Target::task_bytes(parsed.value_or(compiler_->default_config()));
  }

  Result<Executables> compile(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return Target::compile(*compiler_, program, made);
  }
  Result<GpuCode> compile_for_gpu(const ir::Program& program, const Options& options) override {
    PADLOCK_TRY(const typename Target::Options made, made_of(options));
    return Target::compile_for_gpu(*compiler_, program, made);
  }
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

  Result<typename Target::Options> made_of(const Options& options) const {
    typename Target::Options made;
    PADLOCK_TRY(made.config, Config::parse(options.config, compiler_->default_config()));
    made.bounds_check = options.bounds_check;
    return made;
  }

  std::unique_ptr<typename Target::Compiler> compiler_;
};

}  // namespace

Result<std::unique_ptr<TargetCompiler>> TargetCompiler::create(const std::string& target) {
  if (is_gpu(target)) {
    PADLOCK_TRY(auto compiler, GpuCompiler::create(target));
    return std::make_unique<Adapter<Gpu>>(std::move(compiler));
  }
  PADLOCK_TRY(auto compiler, HostCompiler::create(target));
  return std::make_unique<Adapter<Host>>(std::move(compiler));
}

}  // namespace padlock::compiler
