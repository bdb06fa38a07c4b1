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

/// The contents that the buffers of a launch must have, on the device, where a kernel compares them. That kernel only
/// ever says that all is well: where it says anything else, the host looks for itself. Movable; borrows the comparison.
class DeviceReference {
 public:
  /// Copies a problem's inputs and results, and tries the kernel on them: differences planted in `set`, at the ends and
  /// in the middle of each buffer, in a NaN and in the red zones, have to be found. Leaves the set in any state.
  /// Errors: as the space and the driver say; internal, where a planted difference is missed or one found that there is
  /// not.
  [[nodiscard]] static Result<DeviceReference> create(runtime::ScratchSpace& space, runtime::Comparison& comparison,
                                                      const Problem& problem, const Reference& reference,
                                                      ScratchSet& set);

  [[nodiscard]] Status write_inputs(ScratchSet& set) const;
  /// Returns whether red zones, inputs and outputs of a set are as they must be.
  [[nodiscard]] Result<bool> holds(const ScratchSet& set);
  /// Takes a set's outputs for what has to be: the host found them right, of other bits where the language leaves that
  /// open.
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

/// Returns whether no red zone of these sets is damaged, as a kernel says that was tried.
[[nodiscard]] Result<bool> are_intact(runtime::Comparison& comparison, std::span<const ScratchSet> sets);

}  // namespace padlock::tuner
