#pragma once

#include <memory>

#include "api/compiled_program.h"
#include "support/error.h"

namespace padlock::api {

/// One run of a bound program on arrays of the host's memory, on whatever device it was compiled for: for tools and
/// tests, not for speed. Not thread-safe. Borrows the arrays; the program's context must outlive it.
///
/// On a GPU each array has a buffer of the device beside it, which begins at the same address modulo 16 as far as the
/// element type allows, so that code which depends on alignment does there as it would here. Elsewhere the program
/// works on the arrays themselves.
class DeviceRun {
 public:
  /// Makes the device's buffers and copies all arrays there, the outputs too: what a launch does not write stays as it
  /// was. Errors: as BoundProgram::launch of the arrays; resource_exhausted, naming the tensor.
  [[nodiscard]] static Result<DeviceRun> begin(const BoundProgram& program, const LaunchArguments& arrays);
  DeviceRun(DeviceRun&& other) noexcept;
  DeviceRun& operator=(DeviceRun&& other) noexcept;
  ~DeviceRun();

  /// Launches and waits. May be called again. Errors as BoundProgram::launch and BoundProgram::synchronize.
  [[nodiscard]] Status launch();
  /// Copies the results back to their arrays.
  [[nodiscard]] Status finish();

 private:
  struct State;
  explicit DeviceRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// All three.
[[nodiscard]] Status run_on_host_arrays(const BoundProgram& program, const LaunchArguments& arrays);

}  // namespace padlock::api
