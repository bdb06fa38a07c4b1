#pragma once

#include <string>
#include <vector>

#include "tools/failure.h"

namespace padlock::tools {

/// One run of a call on arrays of the host's memory, on whatever device: on a GPU each array has memory of the device
/// beside it. The library's memory begins at a page here and at 256 bytes there, so that code which depends on
/// alignment does on both the same. Borrows the call and the arrays.
class DeviceRun {
 public:
  /// Copies all arrays to the device, the results' too: what a launch does not write stays as it was.
  [[nodiscard]] static lib::Expected<DeviceRun> begin(const lib::Context& context, const lib::Call& call,
                                                      const std::string& device, const std::vector<lib::Memory>& inputs,
                                                      const std::vector<lib::Memory>& results);

  /// Launches and waits. May be called again.
  [[nodiscard]] lib::Status launch();
  /// Copies the results back to their arrays.
  [[nodiscard]] lib::Status finish();

 private:
  explicit DeviceRun(const lib::Call& call) : call_(&call) {}

  const lib::Call* call_;              // borrowed
  std::vector<lib::Memory> results_;   // the host's
  std::vector<lib::Memory> mirrored_;  // of a GPU: the inputs', then the results'
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
};

/// Returns whether the name is that of a GPU.
[[nodiscard]] bool is_gpu(const std::string& device);

}  // namespace padlock::tools
