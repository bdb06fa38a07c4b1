#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/comparison.h"
#include "support/error.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/reference.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// The expected contents of a launch's buffers, on the device, for the kernel that compares there. Only the kernel's
/// "all equal" is trusted: the host checks any other answer itself. Movable; borrows the comparison.
class DeviceReference {
 public:
  /// Copies a problem's inputs and results, and tests the kernel on them. It must find differences planted in `set`: at
  /// the ends and in the middle of each buffer, in a NaN, and in the red zones. Leaves the set in any state. Errors: as
  /// the space and the driver say; internal if a planted difference is missed, or another one reported.
  [[nodiscard]] static Result<DeviceReference> create(runtime::ScratchSpace& space, runtime::Comparison& comparison,
                                                      const Problem& problem, const Reference& reference,
                                                      ScratchSet& set);

  [[nodiscard]] Status write_inputs(ScratchSet& set) const;
  /// Returns whether red zones, inputs and outputs of a set are as expected.
  [[nodiscard]] Result<bool> holds(const ScratchSet& set);
  /// Takes a set's outputs as the expected ones: the host found them right, with other bits where the language leaves
  /// these open.
  [[nodiscard]] Status adopt(const ScratchSet& set);
  [[nodiscard]] bool has_adopted() const { return has_adopted_; }

  [[nodiscard]] runtime::Comparison& comparison() const { return *comparison_; }
  [[nodiscard]] std::int64_t mapped_bytes() const { return golden_.mapped_bytes(); }

 private:
  DeviceReference(runtime::Comparison& comparison, ScratchSet golden)
      : comparison_(&comparison), golden_(std::move(golden)) {}
  [[nodiscard]] Status try_kernel(ScratchSet& set, const Problem& problem, const Reference& reference);

  runtime::Comparison* comparison_;
  ScratchSet golden_;
  bool has_adopted_ = false;
};

/// Returns whether the red zones of these sets are undamaged, by a kernel that was tested.
[[nodiscard]] Result<bool> are_intact(runtime::Comparison& comparison, std::span<const ScratchSet> sets);

}  // namespace padlock::tuner
