#include "session/compile/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "abi/gpu_targets.h"
#include "runtime/host/host_info.h"
#include "runtime/host/system_memory.h"
#include "session/compile/job_thread.h"
#include "session/launch/compiled_state.h"
#include "support/messages/suggestion.h"
#include "tuner/cache/choice.h"
#include "tuner/cache/describe.h"
#include "tuner/worker/worker.h"

namespace padlock::session {

using compiler::TargetCompiler;

namespace {

compiler::Stage stage_of(Stage stage) {
  switch (stage) {
    case Stage::schedule:
      return compiler::Stage::schedule;
    case Stage::llvm:
      return compiler::Stage::llvm;
    case Stage::assembly:
    case Stage::ptx:
      return compiler::Stage::assembly;
    default:
      return compiler::Stage::kernel;
  }
}

/// LLVM ends the process when it runs out of memory. A round number for what compiling takes, not measured.
constexpr std::int64_t kMemoryToCompile = std::int64_t{128} << 20;

/// Returns the target that "host" means for a device.
std::string target_on(const runtime::Device& device, const std::string& target) {
  return target == "host" && device.traits().code_kind ? device.traits().target : target;
}

}  // namespace

Status check_memory_to_compile() {
  const std::int64_t available = runtime::available_memory();
  if (available >= kMemoryToCompile) return {};
  return resource_exhausted(
      fmt::format("compiling needs {} bytes of memory, {} are left to this process", kMemoryToCompile, available));
}

Result<Stage> parse_stage(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Stage>, 6> kStages = {{{"ir", Stage::ir},
                                                                          {"kernel", Stage::kernel},
                                                                          {"schedule", Stage::schedule},
                                                                          {"llvm", Stage::llvm},
                                                                          {"ptx", Stage::ptx},
                                                                          {"asm", Stage::assembly}}};
  for (const auto& [known, stage] : kStages)
    if (name == known) return stage;
  return invalid_argument(
      fmt::format("expected a stage (ir, kernel, schedule, llvm, ptx or asm), found '{}'{}", name,
                  did_you_mean(name, kStages | std::views::transform([](const auto& entry) { return entry.first; }))));
}

Context::Context(ContextOptions options)
    : LaunchContext(
          {.threads = options.threads, .parallel_for = options.parallel_for, .cuda_context = options.cuda_context}),
      worker_(std::move(options.worker)),
      assembler_(std::move(options.assembler)),
      background_(std::make_unique<JobThread>()) {}

Context::~Context() = default;

Result<std::string> Context::target_of(const CompileOptions& options) {
  if (options.target != "host") return options.target;
  PADLOCK_TRY(const runtime::Device* const device, devices_.open(options.device));
  return target_on(*device, options.target);
}

Result<Context::Resolved> Context::resolve(const runtime::Device& device, const std::string& target) {
  Resolved resolved{.device = &device, .target = target_on(device, target), .compiler = nullptr};
  PADLOCK_TRY(resolved.compiler, compiler_for(resolved.target));
  return resolved;
}

/// Error: invalid_argument for a device whose times are meaningless.
Result<const runtime::Device*> Context::tuned_device(runtime::DeviceId id) {
  PADLOCK_TRY(const runtime::Device* const device, devices_.open(id));
  if (!device->traits().emulated) return device;
  return invalid_argument(fmt::format("expected a device that is tuned, found {}", id.to_string()));
}

Result<TargetCompiler*> Context::compiler_of(const CompileOptions& options) {
  PADLOCK_TRY(const std::string target, target_of(options));
  return compiler_for(target);
}

Result<TargetCompiler*> Context::compiler_for(const std::string& target) {
  const std::lock_guard lock(mutex_);
  // A refused name must leave nothing behind: there are endlessly many.
  if (const auto kept = compilers_.find(target); kept != compilers_.end()) return kept->second.get();
  PADLOCK_TRY(std::unique_ptr<TargetCompiler> made, observer_.create(target));
  return compilers_.emplace(target, std::move(made)).first->second.get();
}

Result<std::string> Context::choose_config(const CompileOptions& options) {
  PADLOCK_TRY(TargetCompiler* const compiler, compiler_of(options));
  PADLOCK_TRY(const compiler::Config config, compiler->parse_config(options.config));
  return compiler::to_string(config);
}

Result<std::string> Context::describe_target(const std::string& target) {
  PADLOCK_TRY(TargetCompiler* const compiler, compiler_for(target));
  return compiler->description();
}

Result<std::string> Context::find_worker() const { return tuner::find_worker(worker_); }

Result<tuner::CacheKey> Context::cache_key(const Program& program, const CompileOptions& options) {
  PADLOCK_TRY(const runtime::Device* const device, tuned_device(options.device));
  return key_of(program, *device, target_on(*device, options.target));
}

Result<tuner::CacheKey> Context::key_of(const Program& program, const runtime::Device& device,
                                        const std::string& target) {
  tuner::KeyFields fields;
  tuner::describe_build(fields);
  tuner::describe_program(fields, program.ir());
  PADLOCK_CHECK(device.check_target(target));
  if (const auto gpu = device.facts().gpu) {
    tuner::describe_gpu(fields, *gpu, target);
  } else {
    PADLOCK_TRY(const std::string cpu, describe_target(target));
    tuner::describe_host(fields, runtime::host_info(), cpu);
    fields.threads = std::to_string(pool_.threads());  // a launch's threads, not the machine's
  }
  return tuner::CacheKey(std::move(fields));
}

Result<CompiledProgram> Context::compile(const Program& program, const CompileOptions& options) {
  PADLOCK_TRY(const runtime::Device* const device, devices_.open(options.device));
  if (device->traits().code_kind) {
    PADLOCK_CHECK(check_memory_to_compile());
    PADLOCK_TRY(const Resolved resolved, resolve(*device, options.target));
    return compile_code(program, resolved, options);
  }
  if (!options.config.empty()) return invalid_argument("expected no config: the reference has nothing to configure");
  return interpret(program);
}

Status Context::use_cache(tuner::StoreOptions options) {
  if (options.mode == tuner::Mode::off) return {};
  PADLOCK_TRY(store_, tuner::Store::open(std::move(options)));
  return {};
}

Result<std::shared_ptr<const tuner::Lookup>> Context::look_up(const Program& program, const tuner::CacheKey& key,
                                                              const TargetCompiler& compiler) {
  return store_->look_up(key, [&](const tuner::Choice& choice) {
    return tuner::check_choice(program.ir(), choice, [&](const std::string& config) -> Status {
      PADLOCK_CHECK(compiler.parse_config(config));
      return {};
    });
  });
}

/// Looks up this program in the cache, and compiles each config named there. Null for a miss, with its reason.
Result<std::shared_ptr<const TunedConfigs>> Context::tuned_configs(const Program& program,
                                                                   const CompileOptions& options,
                                                                   const Resolved& resolved, const std::string& config,
                                                                   std::string& miss) {
  PADLOCK_TRY(const tuner::CacheKey key, key_of(program, *resolved.device, resolved.target));
  PADLOCK_TRY(const auto lookup, look_up(program, key, *resolved.compiler));
  miss = fmt::format("the cache missed, {}", lookup->reason);
  if (!lookup->hit()) return nullptr;
  std::string reason = fmt::format("the cache hit, key {}", key.digest().substr(0, 12));
  if (!lookup->reason.empty()) reason += fmt::format(" but for {}", lookup->reason);
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;
  std::vector<tuner::Choice> choices;
  for (tuner::Choice choice : lookup->choices) {
    PADLOCK_TRY(const compiler::Config parsed, resolved.compiler->parse_config(choice.config));
    choice.config = compiler::to_string(parsed);
    if (choice.config != config && !compiled.contains(choice.config)) {
      auto tuned = compile_config(program, resolved, parsed, options.bounds_check);
      // A record is a hint: if the present device does not accept it, the default serves.
      if (!tuned && (is_device_lost(tuned.error()) || store_->mode() == tuner::Mode::require))
        return std::unexpected(std::move(tuned).error());
      if (!tuned) {
        reason += fmt::format(" but for {}: {}", choice.config, tuned.error().message);
        continue;
      }
      compiled.emplace(choice.config, *std::move(tuned));
    }
    choices.push_back(std::move(choice));
  }
  const std::int64_t cache = resolved.device->facts().cache_share(pool_.threads());
  PADLOCK_TRY(tuner::ProgramChoices by_region,
              tuner::ProgramChoices::of_served(program.ir(), tuner::serving(program.ir(), choices, cache), config));
  return std::make_shared<const TunedConfigs>(std::move(reason), std::move(by_region), std::move(compiled),
                                              store_->mode() == tuner::Mode::require);
}

/// Tunes; later bindings of the program use the chosen configs.
Result<TuneReport> Context::tune_serving(const Program& program, const CompileOptions& options,
                                         const Resolved& resolved, const std::weak_ptr<CompiledProgram::State>& serving,
                                         const std::function<bool()>& stopped) {
  TuneOptions tuning = options.background->options;
  tuning.device = options.device;
  tuning.resume = true;
  tuning.cancelled = [&] {
    return stopped() || (options.background->options.cancelled && options.background->options.cancelled());
  };
  PADLOCK_TRY(TuneReport report, tune(program, tuning));
  if (const auto state = serving.lock(); state && report.chosen() > 0) {
    std::string miss;
    PADLOCK_TRY(auto tuned, tuned_configs(program, options, resolved, state->config, miss));
    state->tuned.set(std::move(tuned));
  }
  return report;
}

Status Context::tune_later(const Program& program, const CompileOptions& options, const Resolved& resolved,
                           const std::shared_ptr<CompiledProgram::State>& state) {
  if (store_ == nullptr) return failed_precondition("expected a cache that keeps what is learnt, found none");
  return background_->add(
      [this, program, options, resolved, serving = std::weak_ptr(state)](const std::function<bool()>& stopped) {
        const Result<TuneReport> report = [&]() -> Result<TuneReport> {
          try {
            return tune_serving(program, options, resolved, serving, stopped);
          } catch (const std::bad_alloc&) {  // no caller above this could catch it
            return resource_exhausted("out of memory");
          }
        }();
        if (options.background->finished) options.background->finished(report);
      });
}

void Context::wait_for_tuning() { background_->wait(); }

Result<CompiledProgram> Context::compile_code(const Program& program, const Resolved& resolved,
                                              const CompileOptions& options) {
  PADLOCK_TRY(const compiler::Config config, resolved.compiler->parse_config(options.config));
  PADLOCK_TRY(std::shared_ptr<CompiledProgram::State> state,
              compile_config(program, resolved, config, options.bounds_check));
  const bool forced = !options.config.empty();
  state->reason = forced ? "forced, other keys as in the default" : "the default of this target";
  if (forced || resolved.device->traits().emulated) return CompiledProgram(std::move(state));
  if (store_ != nullptr) {
    std::string miss;
    PADLOCK_TRY(auto tuned, tuned_configs(program, options, resolved, state->config, miss));
    if (!tuned) state->reason += ": " + miss;
    state->tuned.set(std::move(tuned));
  }
  if (options.background) PADLOCK_CHECK(tune_later(program, options, resolved, state));
  return CompiledProgram(std::move(state));
}

Result<std::shared_ptr<CompiledProgram::State>> Context::compile_config(const Program& program,
                                                                        const Resolved& resolved,
                                                                        const compiler::Config& config,
                                                                        bool bounds_check) {
  const auto& [device, target, compiler] = resolved;
  PADLOCK_CHECK(device->check_target(target));
  PADLOCK_CHECK(compiler->check_runs_here());
  std::shared_ptr<CompiledProgram::State> state = make_state(program, *device);
  state->config = compiler::to_string(config);
  state->target = compiler->description();
  state->runs_here = target == "host" || abi::is_gpu(target);
  auto code = compiler->compile(program.ir(), {.config = config,
                                               .bounds_check = bounds_check,
                                               .for_simt = device->traits().code_kind == abi::CodeKind::host_image});
  if (!code) return std::unexpected(program.with_source_line(std::move(code).error()));
  const std::int64_t kernels = std::ssize(code->kernels);
  PADLOCK_TRY(state->loaded, device->load(program.ir(), *std::move(code)));
  compiles_ += kernels;
  return state;
}

Result<std::string> Context::emit(const Program& program, Stage stage, const CompileOptions& options) {
  if (stage == Stage::ir) return ir::to_string(program.ir());
  PADLOCK_TRY(const std::string target, target_of(options));
  PADLOCK_TRY(TargetCompiler* const compiler, compiler_for(target));
  const bool gpu = abi::is_gpu(target);
  if (stage == (gpu ? Stage::assembly : Stage::ptx))
    return invalid_argument(
        gpu ? fmt::format("target {} has the stages ir, kernel, schedule, llvm and ptx", target)
            : fmt::format("stage ptx is of GPU targets; target {} has ir, kernel, schedule, llvm and asm", target));
  PADLOCK_TRY(const compiler::Config config, compiler->parse_config(options.config));
  return compiler->emit(program.ir(), stage_of(stage), {.config = config, .bounds_check = options.bounds_check});
}

Result<std::vector<compiler::Proof>> Context::prove(const Program& program, const CompileOptions& options,
                                                    bool all_configs) {
  PADLOCK_TRY(TargetCompiler* const compiler, compiler_of(options));
  PADLOCK_TRY(const compiler::Config chosen, compiler->parse_config(options.config));
  std::vector<compiler::Config> configs = {chosen};
  if (all_configs) configs = compiler->all_configs();
  std::vector<compiler::Proof> all;
  for (const compiler::Config& config : configs) {
    auto proofs = compiler->prove(program.ir(), {.config = config});
    if (!proofs) return std::unexpected(program.with_source_line(std::move(proofs).error()));
    std::ranges::move(*proofs, std::back_inserter(all));
  }
  return all;
}

}  // namespace padlock::session
