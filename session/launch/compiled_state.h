#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "session/launch/compiled_program.h"
#include "support/stack_array.h"
#include "tuner/cache/choice.h"

// Defines what the handles of compiled_program.h hold. Private to this folder.
namespace padlock::session {

/// TunedConfigs hold what a cache knows of a program: which config serves which sizes, and the program compiled with
/// those that differ from the one that serves the others, by their text in the cache.
struct TunedConfigs {
  std::string reason;  ///< what the cache said
  tuner::ProgramChoices choices;
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;  // shared: bound programs keep them
  bool is_required = false;  ///< an error where a config does not load, and no default instead
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
  const runtime::Device* device;  // borrowed from the context (outlives this)
  std::string config = {};
  std::string target = {};
  bool runs_here = true;  // made for this machine's CPU, or its GPU
  std::unique_ptr<const runtime::LoadedProgram> loaded = {};
  std::string reason = {};  ///< why this config, where no cache has another
  TunedSlot tuned = {};
};

/// Makes the state that no config changes; nothing is loaded.
[[nodiscard]] std::shared_ptr<CompiledProgram::State> make_state(const Program& program, const runtime::Device& device);

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
  std::unique_ptr<const runtime::BoundLaunch> bound = {};
  std::vector<TensorInfo> inputs = {};
  std::vector<TensorInfo> results = {};
  std::string reason = {};  ///< where a cache hit: for which sizes; else the compiled program's

  /// Makes `bound` of the compiled program and the binding. Errors: as runtime::LoadedProgram::bind.
  [[nodiscard]] Status load();
  /// Fills in `inputs` and `results`.
  void describe_arguments();
  [[nodiscard]] Status launch(const LaunchViews& views, std::span<const std::uint64_t> scalars, void* stream) const;
};

}  // namespace padlock::session
