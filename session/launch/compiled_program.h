#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "session/launch/program.h"
#include "support/error.h"

namespace padlock::session {

/// A tensor argument under a binding. Extents and strides in elements.
struct TensorInfo {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  std::int64_t storage_bytes = 0;
};

/// The buffers and scalars of one launch, in the order of the program's tensor parameters, results and scalar
/// parameters. A scalar is its bits, zero-extended. All borrowed. For a GPU, buffers are the caller's device addresses,
/// each a multiple of its element's size, and in use until the stream has got there.
struct LaunchArguments {
  std::span<const runtime::UserBuffer> inputs;
  std::span<const runtime::UserBuffer> outputs;
  std::span<const std::uint64_t> scalars;
  /// Stream of a GPU: a CUstream of the device's primary context, borrowed; null for the default stream. Ignored on
  /// other devices.
  void* stream = nullptr;
};

/// The same for a caller that only has pointers: each is assumed to point to as many bytes as the program needs.
struct LaunchPointers {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::span<const std::uint64_t> scalars;
  void* stream = nullptr;
};

/// A compiled program bound to sizes: everything but pointers and scalars is known. Immutable and thread-safe, so
/// launches may run at once. The context must outlive it.
class BoundProgram {
 public:
  /// Returns the program that it runs, compiled with the config chosen for these sizes.
  [[nodiscard]] class CompiledProgram compiled() const;
  /// The reason for that config: as CompiledProgram::reason, with the region of sizes.
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] const ir::Binding& binding() const;
  [[nodiscard]] const std::vector<TensorInfo>& inputs() const;
  /// Row-major and dense.
  [[nodiscard]] const std::vector<TensorInfo>& results() const;

  /// Computes all results. On a GPU it queues the work on the arguments' stream, allocates nothing, waits for nothing,
  /// is legal while the stream is captured, and restores the thread's current CUDA context. Errors: invalid_argument
  /// for a buffer that is too small, an output that overlaps another buffer or, on a GPU, a misaligned address (nothing
  /// is written then); failed_precondition for code made for a target other than "host"; internal if a bounds check
  /// fails (on a GPU, `synchronize` reports it); a lost device.
  [[nodiscard]] Status launch(const LaunchArguments& arguments) const;
  [[nodiscard]] Status launch(const LaunchPointers& pointers) const;
  /// Waits until the work of a GPU's stream is done and returns its status; on other devices `launch` has waited.
  /// Illegal while the stream is captured. Errors: a lost device (is_device_lost); internal if a bounds check of this
  /// program failed, on any stream, since the last question; failed_precondition for a captured stream.
  [[nodiscard]] Status synchronize(void* stream = nullptr) const;
  /// Returns whether the language leaves a NaN's sign and payload open at this element of result `result` (any NaN is
  /// right then). Runs the interpreter, so it takes microseconds; for every device the arguments are in the host's
  /// memory.
  [[nodiscard]] Result<bool> nan_is_open(std::size_t result, std::span<const std::int64_t> coordinates,
                                         const LaunchArguments& arguments) const;

 private:
  friend class CompiledProgram;
  struct State;
  explicit BoundProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;  // shared by copies of the handle, across threads
};

/// A program compiled for a device, for all sizes that it admits. A cheap handle, thread-safe. Immutable except for
/// configs from background tuning, which later bindings use. The context must outlive it. The last handle, including
/// bound programs, unloads the code: on a GPU its queued work must be done, and no stream captured.
class CompiledProgram {
 public:
  /// Binds to sizes. On a GPU the first sizes that select a variant of a kernel load its code: this takes milliseconds
  /// and is legal while a stream is captured. Errors: as ir::Binding::bind, before anything is allocated or launched;
  /// for a GPU's code, as its driver says, with the variant's name.
  [[nodiscard]] Result<BoundProgram> bind(const ir::BindRequest& request) const;

  [[nodiscard]] const Program& program() const;
  [[nodiscard]] const runtime::Device& device() const;
  /// The text of the config for sizes that the cache does not cover; empty on the reference.
  [[nodiscard]] const std::string& config() const;
  /// The reason for this config: requested, the default, or the cache's statement; a binding then names the region.
  [[nodiscard]] std::string reason() const;
  /// CPU and features, or the GPU architecture, of the code; empty on the reference.
  [[nodiscard]] const std::string& target() const;
  /// The contracts of its kernels, in launch order; empty on the reference. Each kernel lists its variants: the first
  /// has no assumptions, the others are for the sizes that their guards admit.
  [[nodiscard]] std::vector<std::vector<const abi::KernelAbi*>> kernels() const;

  struct State;  ///< private to the folder

 private:
  friend class Context;
  friend class LaunchContext;
  friend class PackLoader;
  friend class BoundProgram;
  friend struct BoundProgram::State;
  explicit CompiledProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;  // shared: bound programs keep the code alive
};

}  // namespace padlock::session
