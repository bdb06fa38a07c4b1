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
  /// A caller's own way of running loops, used instead of the pool where it is given.
  std::optional<runtime::ParallelFor> parallel_for;
  /// The program that a tuner tries configs in; empty: as tuner::find_worker looks for it.
  std::string worker = {};
  /// CUDA's program ptxas, a path or a name on PATH, which packs' code for GPUs is assembled by beforehand; empty: a
  /// driver does it.
  std::string assembler = {};
  /// A CUcontext of the caller's, borrowed, which serves its device instead of the primary one; it outlives the
  /// context.
  void* cuda_context = nullptr;
};

struct CompileOptions {
  runtime::DeviceId device = {};
  /// Target that code is made for: "host" (this machine), "host:NAME" or "sm_NN" (see
  /// compiler/targets/target_compiler.h). "host" means sm_90 for the device simt, and for a GPU the newest known
  /// architecture that it runs. A program for another CPU than this one can be printed, not run.
  std::string target = "host";
  /// "key=value,...": absent keys as in the default config; empty: what the cache has for the sizes that are bound, and
  /// the default config for those for which it has nothing.
  std::string config = {};
  bool bounds_check = false;
  /// Tunes the program while it serves already; absent: not. See BackgroundTuning. With a config there is nothing to
  /// tune.
  std::optional<BackgroundTuning> background = {};
};

enum class Stage : std::uint8_t { ir, kernel, schedule, llvm, ptx, assembly };

/// Reads "ir", "kernel", "schedule", "llvm", "ptx" or "asm". Error: invalid_argument, listing these.
[[nodiscard]] Result<Stage> parse_stage(std::string_view name);

/// Error: resource_exhausted, where too little memory is left to compile in. Context::compile asks this itself.
[[nodiscard]] Status check_memory_to_compile();

struct TunedConfigs;

/// A LaunchContext that compiles: owner of everything that is shared between programs. Compilers are made on first
/// need. Thread-safe; must outlive what is compiled with it.
class Context final : public LaunchContext {
 public:
  explicit Context(ContextOptions options = {});
  ~Context() override;

  /// The slow step: once a program, whatever the sizes. Errors: invalid_argument for an unknown target or a config
  /// outside the search space; unavailable for a device or target that this machine or build lacks;
  /// resource_exhausted and internal as in compiler/targets/target_compiler.h. For a GPU also the driver's:
  /// resource_exhausted for its memory, or a lost device.
  [[nodiscard]] Result<CompiledProgram> compile(const Program& program, const CompileOptions& options = {});
  /// The text of one stage. Errors as `compile`; invalid_argument for a stage that the target does not have.
  [[nodiscard]] Result<std::string> emit(const Program& program, Stage stage, const CompileOptions& options = {});

  /// The programs compiled for each of the targets ("host", "host:NAME", "sm_NN"), with the configs that the cache has
  /// for them, as the bytes of a pack (runtime/pack/pack_file.h). Of the targets that a device runs, it runs the first.
  /// Errors: invalid_argument without a program or a target, and for a name that stands twice; else as `compile`.
  [[nodiscard]] Result<std::vector<std::byte>> pack(const std::vector<Program>& programs,
                                                    const std::vector<std::string>& targets);

  /// Every obligation of every kernel with its verdict, refuted ones too; for all configs of the target's search space,
  /// or for the one that `compile` would take. Errors as `compile`.
  [[nodiscard]] Result<std::vector<compiler::Proof>> prove(const Program& program, const CompileOptions& options = {},
                                                           bool all_configs = false);

  /// Returns the config that the options choose, without compiling: its text, after the checks of `compile`.
  [[nodiscard]] Result<std::string> choose_config(const CompileOptions& options);
  /// CPU and features of a target. Errors as `compile`.
  [[nodiscard]] Result<std::string> describe_target(const std::string& target);
  /// The program that tuning would start. Error: unavailable, saying what was looked for.
  [[nodiscard]] Result<std::string> find_worker() const;

  /// Returns the key by which a tuning record of this program on this device is looked up. Error: invalid_argument for
  /// a device that is not tuned (reference, simt); else as `compile`.
  [[nodiscard]] Result<tuner::CacheKey> cache_key(const Program& program, const CompileOptions& options = {});

  /// From here on programs compiled without a config, for this machine or a GPU, take theirs from these files, and what
  /// tuning learns is kept there. To be called before anything is compiled. Error: as tuner::Store::open; in
  /// Mode::require a miss is an error of `compile` (not_found), and so is a config that the device does not take, for
  /// which the default serves else.
  [[nodiscard]] Status use_cache(tuner::StoreOptions options);

  /// Which regions of sizes would be tuned, and which configs tried. Errors: invalid_argument for sizes that make no
  /// sense or a device that is not tuned; not_found where the program admits no sizes; else as `compile`.
  [[nodiscard]] Result<TunePlan> plan_tuning(const Program& program, const TuneOptions& options);
  /// Measures configs on scratch memory, in a process of their own, and keeps each result in the cache as it comes.
  /// Programs that are compiled already keep their configs, but for CompileOptions::background. Errors: as plan_tuning;
  /// failed_precondition without a cache; unavailable without a worker.
  [[nodiscard]] Result<TuneReport> tune(const Program& program, const TuneOptions& options);

  /// Waits until nothing that was to be tuned in the background is left.
  void wait_for_tuning();

  /// Configs that were tried so far: none where the cache knows what is needed.
  [[nodiscard]] std::int64_t trial_count() const { return trials_; }
  /// Kernels compiled so far.
  [[nodiscard]] std::int64_t compile_count() const { return compiles_; }

 private:
  friend class PackBuilder;
  friend class Tuning;
  Result<std::shared_ptr<const tuner::Lookup>> look_up(const Program& program, const tuner::CacheKey& key,
                                                       const compiler::TargetCompiler& compiler);
  /// What makes and runs a program's code, looked up once a compile or a tuning; borrowed from the context.
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
  std::unique_ptr<tuner::Store> store_;  // absent: no cache is used
  std::atomic<std::int64_t> trials_ = 0;
  std::atomic<std::int64_t> compiles_ = 0;
  std::unique_ptr<class JobThread> background_;  // last: its jobs use all of the above
};

}  // namespace padlock::session
