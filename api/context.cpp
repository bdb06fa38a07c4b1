#include "api/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/compiled_state.h"

namespace padlock::api {
namespace {

compiler::Stage host_stage(Stage stage) {
  switch (stage) {
    case Stage::llvm:
      return compiler::Stage::llvm;
    case Stage::assembly:
      return compiler::Stage::assembly;
    default:
      return compiler::Stage::kernel;
  }
}

Result<compiler::HostConfig> parse_config(const std::string& text, const compiler::HostConfig& base) {
  PADLOCK_TRY(const compiler::HostConfig config, compiler::HostConfig::parse(text, base));
  const std::vector<compiler::HostConfig> space = compiler::HostConfig::all();
  if (std::find(space.begin(), space.end(), config) == space.end())
    return invalid_argument(fmt::format("expected a config of the search space, found {}", config.to_string()));
  return config;
}

}  // namespace

Context::Context(ContextOptions options)
    : pool_(options.threads), parallel_for_(options.parallel_for.value_or(pool_.as_parallel_for())) {}

Result<compiler::HostCompiler*> Context::compiler_for(const std::string& target) {
  if (target.starts_with("sm_"))
    return unavailable(fmt::format("target {} is not available: this version is built without GPU targets", target));
  const std::lock_guard lock(mutex_);
  auto& slot = compilers_[target];
  if (!slot) {
    PADLOCK_TRY(slot, compiler::HostCompiler::create(target));
  }
  return slot.get();
}

Result<compiler::HostConfig> Context::choose_config(const CompileOptions& options) {
  PADLOCK_TRY(compiler::HostCompiler* const compiler, compiler_for(options.target));
  const compiler::HostConfig base = compiler->default_config();
  if (options.config.empty()) return base;
  return parse_config(options.config, base);
}

Result<std::string> Context::describe_target(const std::string& target) {
  PADLOCK_TRY(compiler::HostCompiler* const compiler, compiler_for(target));
  return compiler->target_description();
}

Result<CompiledProgram> Context::compile(const Program& program, const CompileOptions& options) {
  PADLOCK_CHECK(availability(options.device));
  if (options.device.kind != DeviceKind::reference) return compile_host(program, options);
  if (!options.config.empty()) return invalid_argument("expected no config: the reference has nothing to configure");
  auto state = std::make_shared<CompiledProgram::State>(CompiledProgram::State{
      .program = program, .binder = ir::Binder(program.ir()), .device = options.device, .parallel_for = parallel_for_});
  return CompiledProgram(std::move(state));
}

Result<CompiledProgram> Context::compile_host(const Program& program, const CompileOptions& options) {
  PADLOCK_TRY(compiler::HostCompiler* const compiler, compiler_for(options.target));
  PADLOCK_TRY(const compiler::HostConfig config, choose_config(options));
  auto state =
      std::make_shared<CompiledProgram::State>(CompiledProgram::State{.program = program,
                                                                      .binder = ir::Binder(program.ir()),
                                                                      .device = options.device,
                                                                      .config = config.to_string(),
                                                                      .target = compiler->target_description(),
                                                                      .runs_here = options.target == "host",
                                                                      .task_bytes = std::int64_t{config.task_kib} << 10,
                                                                      .parallel_for = parallel_for_});
  auto executables = compiler->compile(program.ir(), {.config = config, .bounds_check = options.bounds_check});
  if (!executables) return std::unexpected(program.with_source_line(std::move(executables).error()));
  state->executables = *std::move(executables);
  for (const auto& executable : state->executables) {
    PADLOCK_TRY(runtime::KernelLauncher launcher, runtime::KernelLauncher::create(*executable, program.ir()));
    state->launchers.push_back(std::move(launcher));
  }
  compiles_ += static_cast<std::int64_t>(state->executables.size());
  return CompiledProgram(std::move(state));
}

Result<std::string> Context::emit(const Program& program, Stage stage, const CompileOptions& options) {
  if (stage == Stage::ir) return ir::to_string(program.ir());
  PADLOCK_TRY(compiler::HostCompiler* const compiler, compiler_for(options.target));
  if (stage == Stage::ptx)
    return invalid_argument(
        fmt::format("stage ptx is of GPU targets; target {} has ir, kernel, llvm and asm", options.target));
  PADLOCK_TRY(const compiler::HostConfig config, choose_config(options));
  return compiler->emit(program.ir(), host_stage(stage), {.config = config, .bounds_check = options.bounds_check});
}

Result<std::vector<compiler::Proof>> Context::prove(const Program& program, const CompileOptions& options,
                                                    bool all_configs) {
  PADLOCK_TRY(compiler::HostCompiler* const compiler, compiler_for(options.target));
  PADLOCK_TRY(const compiler::HostConfig chosen, choose_config(options));
  std::vector<compiler::HostConfig> configs = {chosen};
  if (all_configs) configs = compiler::HostConfig::all();
  std::vector<compiler::Proof> all;
  for (const compiler::HostConfig& config : configs) {
    auto proofs = compiler->prove(program.ir(), {.config = config});
    if (!proofs) return std::unexpected(program.with_source_line(std::move(proofs).error()));
    std::ranges::move(*proofs, std::back_inserter(all));
  }
  return all;
}

}  // namespace padlock::api
