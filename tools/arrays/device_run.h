#pragma once

#include <string>
#include <vector>

#include "tools/failure.h"

namespace padlock::tools {

/// One run of a call on arrays in the host's memory. On a GPU each array also has device memory. The library's memory
/// begins at a page on the host and at 256 bytes on a GPU, so code that depends on alignment runs alike. Borrows the
/// call and the arrays.
class DeviceRun {
 public:
  /// Copies all arrays to the device, results too: an element that a launch does not write stays unchanged.
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
  std::vector<lib::Memory> results_;   // on the host
  std::vector<lib::Memory> mirrored_;  // on a GPU: the inputs, then the results
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
};

/// Returns whether the name is that of a GPU.
[[nodiscard]] bool is_gpu(const std::string& device);

}  // namespace padlock::tools
