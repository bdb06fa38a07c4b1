#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "runtime/host/thread_pool.h"
#include "session/compile/tuning.h"
#include "session/launch/compiled_program.h"
#include "session/launch/launch_context.h"
#include "session/launch/program.h"
#include "support/error.h"
#include "trace/observer.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/store.h"

namespace padlock::session {

struct ContextOptions {
  /// Threads of the pool, the caller's included; 0 means as many as the process may run on.
  int threads = 0;
  /// A caller's way of running loops; if set, used instead of the pool.
  std::optional<runtime::ParallelFor> parallel_for;
  /// The program that a tuner runs to try configs; empty: searched as by tuner::find_worker.
  std::string worker = {};
  /// A program like CUDA's ptxas, as a path or a name on PATH, that assembles packs' GPU code in advance; empty: the
  /// driver does it later.
  std::string assembler = {};
  /// A caller's CUcontext, borrowed, used for its device instead of the primary one. Must outlive the context.
  void* cuda_context = nullptr;
};

struct CompileOptions {
  runtime::DeviceId device = {};
  /// The target of the code: "host" (this machine), "host:NAME" or "sm_NN" (see compiler/targets/target_compiler.h).
  /// "host" means sm_90 for the device simt and, for a GPU, the newest known architecture that it runs. Code for
  /// another CPU than this one can be printed, not run.
  std::string target = "host";
  /// "key=value,..."; missing keys as in the default config. Empty: the cache's config for the bound sizes, or the
  /// default if it has none.
  std::string config = {};
  bool bounds_check = false;
  /// Tunes the program while it is in use; nullopt: does not. See BackgroundTuning. With a config there is nothing to
  /// tune.
  std::optional<BackgroundTuning> background = {};
};

enum class Stage : std::uint8_t { ir, kernel, schedule, llvm, ptx, assembly };

/// Reads "ir", "kernel", "schedule", "llvm", "ptx" or "asm". Error: invalid_argument, listing these.
[[nodiscard]] Result<Stage> parse_stage(std::string_view name);

/// Error: resource_exhausted if too little memory is left to compile. Context::compile calls this itself.
[[nodiscard]] Status check_memory_to_compile();

struct TunedConfigs;

/// A LaunchContext that compiles: owns everything that programs share. Makes compilers on first need. Thread-safe; must
/// outlive what it compiles.
class Context final : public LaunchContext {
 public:
  explicit Context(ContextOptions options = {});
  ~Context() override;

  /// Compiles a program: the slow step, done once for all sizes. Errors: invalid_argument for an unknown target or a
  /// config outside the search space; unavailable for a device or target that this machine or build lacks;
  /// resource_exhausted and internal as in compiler/targets/target_compiler.h. For a GPU also the driver's:
  /// resource_exhausted for its memory, or a lost device.
  [[nodiscard]] Result<CompiledProgram> compile(const Program& program, const CompileOptions& options = {});
  /// Returns the text of one stage. Errors as `compile`; invalid_argument for a stage that the target lacks.
  [[nodiscard]] Result<std::string> emit(const Program& program, Stage stage, const CompileOptions& options = {});

  /// Compiles the programs for each target ("host", "host:NAME", "sm_NN"), with the cache's configs for them, and
  /// returns the bytes of a pack (runtime/pack/pack_file.h). A device uses the first target that it runs. Errors:
  /// invalid_argument without a program or a target, and for a duplicate name; else as `compile`.
  [[nodiscard]] Result<std::vector<std::byte>> pack(const std::vector<Program>& programs,
                                                    const std::vector<std::string>& targets);

  /// Returns every obligation of every kernel with its verdict, refuted ones too. Covers all configs of the target's
  /// search space, or only the config that `compile` would use. Errors as `compile`.
  [[nodiscard]] Result<std::vector<compiler::Proof>> prove(const Program& program, const CompileOptions& options = {},
                                                           bool all_configs = false);

  /// Returns the config that the options choose, without compiling: its text, after the checks of `compile`.
  [[nodiscard]] Result<std::string> choose_config(const CompileOptions& options);
  /// Returns CPU and features of a target. Errors as `compile`.
  [[nodiscard]] Result<std::string> describe_target(const std::string& target);
  /// Returns the program that tuning would start. Error: unavailable, with what was looked for.
  [[nodiscard]] Result<std::string> find_worker() const;

  /// Returns the key for looking up tuning records of this program on this device. Error: invalid_argument for a device
  /// that is not tuned (reference, simt); else as `compile`.
  [[nodiscard]] Result<tuner::CacheKey> cache_key(const Program& program, const CompileOptions& options = {});

  /// Opens a cache. From now on programs compiled without a config, for this machine or a GPU, use its configs, and
  /// tuning keeps results there. Call it before compiling anything. Error: as tuner::Store::open. In Mode::require
  /// `compile` fails for a miss (not_found), and for a config that the device does not accept; in other modes the
  /// default serves then.
  [[nodiscard]] Status use_cache(tuner::StoreOptions options);

  /// Returns the regions of sizes to tune and the configs to try. Errors: invalid_argument for impossible sizes or a
  /// device that is not tuned; not_found if the program admits no sizes; else as `compile`.
  [[nodiscard]] Result<TunePlan> plan_tuning(const Program& program, const TuneOptions& options);
  /// Measures configs on scratch memory in a separate process, and keeps each result in the cache at once. Programs
  /// already compiled keep their configs, except with CompileOptions::background. Errors: as plan_tuning;
  /// failed_precondition without a cache; unavailable without a worker.
  [[nodiscard]] Result<TuneReport> tune(const Program& program, const TuneOptions& options);

  /// Waits until all background tuning is done.
  void wait_for_tuning();

  /// Number of configs tried so far: 0 if the cache knows everything needed.
  [[nodiscard]] std::int64_t trial_count() const { return trials_; }
  /// Number of kernels compiled so far.
  [[nodiscard]] std::int64_t compile_count() const { return compiles_; }

 private:
  friend class PackBuilder;
  friend class Tuning;
  Result<std::shared_ptr<const tuner::Lookup>> look_up(const Program& program, const tuner::CacheKey& key,
                                                       const compiler::TargetCompiler& compiler);
  /// The compiler and device for a program, looked up once per compilation or tuning; borrowed from the context.
  struct Resolved {
    const runtime::Device* device;
    std::string target;  // as TargetCompiler::create takes it
    compiler::TargetCompiler* compiler;
  };
  Result<Resolved> resolve(const runtime::Device& device, const std::string& target);
  Result<tuner::CacheKey> key_of(const Program& program, const runtime::Device& device, const std::string& target);
  Result<std::shared_ptr<const TunedConfigs>> tuned_configs(const Program& program, const CompileOptions& options,
                                                            const Resolved& resolved, const std::string& config,
                                                            std::string& miss);
  Result<TuneReport> tune_serving(const Program& program, const CompileOptions& options, const Resolved& resolved,
                                  const std::weak_ptr<CompiledProgram::State>& serving,
                                  const std::function<bool()>& stopped);
  Status tune_later(const Program& program, const CompileOptions& options, const Resolved& resolved,
                    const std::shared_ptr<CompiledProgram::State>& state);
  Result<std::shared_ptr<CompiledProgram::State>> compile_config(const Program& program, const Resolved& resolved,
                                                                 const compiler::Config& config, bool bounds_check);
  Result<std::string> target_of(const CompileOptions& options);
  Result<const runtime::Device*> tuned_device(runtime::DeviceId id);
  Result<compiler::TargetCompiler*> compiler_for(const std::string& target);
  Result<compiler::TargetCompiler*> compiler_of(const CompileOptions& options);
  Result<CompiledProgram> compile_code(const Program& program, const Resolved& resolved, const CompileOptions& options);

  const trace::Observer observer_ = trace::Observer::from_environment();
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<compiler::TargetCompiler>> compilers_;  // by target; guarded by mutex_
  std::string worker_;
  std::string assembler_;
  std::unique_ptr<tuner::Store> store_;  // null: no cache is used
  // Statistics, in the default order: a compile takes milliseconds.
  std::atomic<std::int64_t> trials_ = 0;
  std::atomic<std::int64_t> compiles_ = 0;
  std::unique_ptr<class JobThread> background_;  // last: its jobs use the members above
};

}  // namespace padlock::session
