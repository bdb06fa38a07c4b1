#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/program.h"
#include "ir/binding.h"
#include "ir/executable.h"
#include "runtime/buffer.h"
#include "support/error.h"

namespace padlock::api {

/// A tensor argument under a binding. Extents and strides in elements.
struct TensorInfo {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  std::int64_t storage_bytes = 0;
};

/// The buffers and scalars of one launch, in the order of the program's tensor parameters, results and scalar
/// parameters. A scalar is its bits, zero-extended. All borrowed.
struct LaunchArguments {
  std::span<const runtime::UserBuffer> inputs;
  std::span<const runtime::UserBuffer> outputs;
  std::span<const std::uint64_t> scalars;
};

/// A compiled program bound to sizes: everything but pointers and scalars is known. Immutable and thread-safe, so
/// launches may run at once. The context must outlive it.
class BoundProgram {
 public:
  [[nodiscard]] const ir::Binding& binding() const;
  [[nodiscard]] const std::vector<TensorInfo>& inputs() const;
  /// Row-major and dense.
  [[nodiscard]] const std::vector<TensorInfo>& results() const;

  /// Computes all results. Errors: invalid_argument for a buffer that is too small or an output that overlaps any
  /// other buffer, failed_precondition for code made for a target other than "host" (nothing is written then);
  /// internal where a bounds check fails (see runtime/launch.h).
  [[nodiscard]] Status launch(const LaunchArguments& arguments) const;
  /// Whether the language leaves a NaN's sign and payload open at this element of result `result` (then any NaN will
  /// do). Asks the interpreter, so it costs microseconds.
  [[nodiscard]] Result<bool> nan_is_open(std::size_t result, std::span<const std::int64_t> coordinates,
                                         const LaunchArguments& arguments) const;

 private:
  friend class CompiledProgram;
  struct State;
  explicit BoundProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;  // shared: a handle that is copied between threads
};

/// A program compiled for a device, for all sizes that it admits. A cheap handle, immutable and thread-safe. The
/// context must outlive it.
class CompiledProgram {
 public:
  /// Errors as ir::Binding::bind; nothing is allocated or launched then.
  [[nodiscard]] Result<BoundProgram> bind(const ir::BindRequest& request) const;

  [[nodiscard]] const Program& program() const;
  [[nodiscard]] const Device& device() const;
  /// The config's text; empty on the reference.
  [[nodiscard]] const std::string& config() const;
  /// CPU and features; empty on the reference.
  [[nodiscard]] const std::string& target() const;
  /// The contracts of its kernels, in launch order; none on the reference. Of each its variants, of which the first
  /// assumes nothing and the others are for the sizes that their guards admit.
  [[nodiscard]] std::vector<std::vector<const ir::KernelAbi*>> kernels() const;

 private:
  friend class Context;
  friend struct BoundProgram::State;
  struct State;
  explicit CompiledProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;  // shared: bound programs keep the code alive
};

}  // namespace padlock::api
