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

// Defines the contents of the handles in compiled_program.h. Private to this folder.
namespace padlock::session {

/// TunedConfigs holds a cache's knowledge of a program: which config serves which sizes, and the program compiled with
/// each config except the one for other sizes, by the config's text in the cache.
struct TunedConfigs {
  std::string reason;  ///< the cache's statement
  tuner::ProgramChoices choices;
  std::map<std::string, std::shared_ptr<const CompiledProgram::State>> compiled;  // shared: bound programs keep them
  bool is_required = false;  ///< a config that does not load is an error; no default instead
};

/// Holds the newest TunedConfigs: background tuning replaces them while a program is in use. Thread-safe.
class TunedSlot {
 public:
  /// Null if nothing is known.
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
  bool runs_here = true;  // made for this machine's CPU or GPU
  std::unique_ptr<const runtime::LoadedProgram> loaded = {};
  std::string reason = {};  ///< for this config, unless a cache has another one
  TunedSlot tuned = {};
};

/// Makes the state that no config changes; loads nothing.
[[nodiscard]] std::shared_ptr<CompiledProgram::State> make_state(const Program& program, const runtime::Device& device);

/// The buffers of a launch, inputs first, without allocating.
class LaunchViews {
 public:
  explicit LaunchViews(const LaunchArguments& arguments);
  /// Precondition: equally many pointers and sizes.
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
  std::string reason = {};  ///< after a cache hit: for which sizes; else the compiled program's

  /// Makes `bound` from the compiled program and the binding. Errors: as runtime::LoadedProgram::bind.
  [[nodiscard]] Status load();
  /// Fills in `inputs` and `results`.
  void describe_arguments();
  [[nodiscard]] Status launch(const LaunchViews& views, std::span<const std::uint64_t> scalars, void* stream) const;
};

}  // namespace padlock::session
