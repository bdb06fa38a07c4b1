#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/compiled_program.h"
#include "runtime/cuda/loaded_program.h"
#include "runtime/launch.h"
#include "runtime/parallel_for.h"
#include "support/stack_array.h"
#include "tuner/choice.h"

// What the handles of compiled_program.h hold. Private to this folder.
namespace padlock::api {

/// Extents, then strides, of each tensor parameter as declared and then of each result.
[[nodiscard]] ir::ExprTape argument_shapes(const ir::Program& program);

/// What a cache knows of a program: which config serves which sizes, and the program compiled with those that differ
/// from the one that serves the others, by their text in the cache.
struct TunedConfigs {
  std::string reason;  ///< what the cache said
  tuner::ProgramChoices choices;
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;  // shared: bound programs keep them
};

/// The newest of them: tuning in the background learns while a program serves. Thread-safe.
class TunedSlot {
 public:
  /// Null where nothing is known.
  [[nodiscard]] std::shared_ptr<const TunedConfigs> get() const {
    const std::lock_guard lock(mutex_);
    return configs_;
  }
  void set(std::shared_ptr<const TunedConfigs> configs) {
    const std::lock_guard lock(mutex_);
    configs_ = std::move(configs);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TunedConfigs> configs_;
};

struct CompiledProgram::State {
  Program program;
  // Of `program`: what a binding evaluates, made ready.
  ir::Binder binder;
  runtime::ArgumentSizer sizer;
  ir::ExprTape shapes;  // argument_shapes(program)
  Device device;
  std::string config = {};
  std::string target = {};
  bool runs_here = true;  // made for this machine's CPU, or its GPU
  std::int64_t task_bytes = 0;
  runtime::ParallelFor parallel_for = {};  // borrowed from the context (outlives this)
  std::shared_ptr<const CodeMemory> code = {};
  std::vector<runtime::KernelLauncher> launchers = {};  // of that code; not changed once bound
  /// On a GPU, instead of these two; it borrows the api::Context's device.
  std::unique_ptr<const runtime::cuda::LoadedProgram> loaded = {};
  std::string reason = {};  ///< why this config, where no cache has another
  TunedSlot tuned = {};
};

/// What no config changes; `parallel_for` is borrowed as it is in the state.
[[nodiscard]] std::shared_ptr<CompiledProgram::State> make_state(const Program& program, const Device& device,
                                                                 const runtime::ParallelFor& parallel_for);
/// Loads code that was made for this machine's CPU.
[[nodiscard]] Status set_image(CompiledProgram::State& state, ir::CompiledCode code);

/// The buffers of a launch, inputs first, without allocating.
class LaunchViews {
 public:
  explicit LaunchViews(const LaunchArguments& arguments);
  /// Precondition: as many pointers as there are sizes.
  LaunchViews(const LaunchPointers& pointers, const runtime::ArgumentSizes& sizes);
  [[nodiscard]] std::span<const runtime::BufferView> inputs() const { return views_.span().first(inputs_); }
  [[nodiscard]] std::span<const runtime::BufferView> outputs() const { return views_.span().subspan(inputs_); }

 private:
  std::size_t inputs_;
  StackArray<runtime::BufferView> views_;
};

struct BoundProgram::State {
  std::shared_ptr<const CompiledProgram::State> compiled;
  ir::Binding binding;
  runtime::ArgumentSizes sizes;
  std::vector<runtime::BoundKernel> kernels = {};
  std::optional<runtime::cuda::BoundLaunch> device_launch = {};  // on a GPU, instead of kernels
  std::vector<TensorInfo> inputs = {};
  std::vector<TensorInfo> results = {};
  std::string reason = {};  ///< where a cache hit: for which sizes; else the compiled program's

  /// Fills in `inputs` and `results`.
  void describe_arguments();
  /// One buffer an argument, as ArgumentSizes::check has it, and one scalar a scalar parameter.
  [[nodiscard]] Status check(const LaunchViews& views, std::span<const std::uint64_t> scalars) const;
  [[nodiscard]] Status launch(const LaunchViews& views, std::span<const std::uint64_t> scalars, void* stream) const;
};

}  // namespace padlock::api
