#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scratch/scratch_buffer.h"
#include "support/error.h"
#include "tuner/trial/device_reference.h"
#include "tuner/trial/failure.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/reference.h"
#include "tuner/trial/request.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// Contents of red zones and outputs before a run. Two runs have different ones, so that storing the same byte is
/// noticed, and an element that neither run writes is not right in both.
inline constexpr std::byte kFirstRed{0xC5}, kSecondRed{0x3A}, kFirstPoison{0xA5}, kSecondPoison{0x5A};

/// All bytes of each output.
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> read_outputs(const ScratchSet& set);

/// Runs a config on one set of scratch buffers and looks for faults. Borrows all arguments.
class Verification {
 public:
  /// `on_device`: null if the host compares everything.
  Verification(TrialCode& code, const Problem& problem, const Reference& reference, DeviceReference* on_device,
               ScratchSet& set, std::int64_t skew)
      : code_(code), problem_(problem), reference_(reference), on_device_(on_device), set_(set), skew_(skew) {}

  /// Runs three times: twice between red zones and, if the memory is isolated, once with buffers that end flush.
  [[nodiscard]] Judged<void> run(const std::function<void(Step)>& enter, bool isolated);
  /// Returns whether the kernel that compares on the device found differences where the host found none.
  [[nodiscard]] bool was_misled() const { return was_misled_; }
  /// Returns the milliseconds that the runs themselves took.
  [[nodiscard]] double running_ms() const { return running_ms_; }

 private:
  struct Run {
    Step step;
    runtime::Placement placement;
    std::byte red, poison;
  };
  using Outputs = std::vector<std::vector<std::byte>>;

  [[nodiscard]] Status prepare(const Run& run);
  [[nodiscard]] Judged<void> launch(const Run& run);
  /// Checks red zones and inputs.
  [[nodiscard]] Judged<void> check_surroundings() const;
  /// Launches, and compares with the reference and with the previous run.
  [[nodiscard]] Judged<void> check(const Run& run);
  /// Compares on the host after a launch.
  [[nodiscard]] Judged<void> check_on_host(const Run& run);
  /// Accepts right outputs whose bits differ from those that the device compares with.
  [[nodiscard]] Judged<void> take_other_bits(Outputs outputs);
  /// Returns the outputs, empty for those with the reference's bits.
  [[nodiscard]] Result<Outputs> other_outputs() const;
  [[nodiscard]] Result<std::string> difference(const Outputs& outputs) const;

  TrialCode& code_;
  const Problem& problem_;
  const Reference& reference_;
  DeviceReference* on_device_;
  ScratchSet& set_;
  std::int64_t skew_;
  std::optional<runtime::Placement> inputs_at_;  // placement at which the inputs are unchanged
  std::optional<Outputs> before_;
  bool held_on_device_ = false;  // whether an earlier run passed on the device
  bool was_misled_ = false;
  double running_ms_ = 0;
};

}  // namespace padlock::tuner
