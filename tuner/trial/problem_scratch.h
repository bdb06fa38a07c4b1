#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/trial/failure.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/request.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// The scratch buffers of one problem. One set serves verification and warm timing; cold timing takes enough sets to
/// exceed the last cache. Borrows the device and the problem. Not thread-safe.
class ProblemScratch {
 public:
  ProblemScratch(TrialDevice& device, const Problem& problem) : device_(device), problem_(problem) {}

  /// Makes buffers for the request, of at most `allowed` bytes, unless they exist already. A config thus keeps its
  /// pages, which affect its speed, from try to try. After a failure there are no buffers.
  [[nodiscard]] Judged<void> provide(const TryRequest& request, std::int64_t allowed);
  /// Fills the first set like the others, after it has served verification.
  [[nodiscard]] Judged<void> restore_first();
  /// Finds damaged red zones of any set. `comparison`, unless null, quickly confirms that there are none.
  [[nodiscard]] Judged<void> check(runtime::Comparison* comparison) const;

  [[nodiscard]] ScratchSet& first() { return sets_.front(); }
  /// Returns the sets to time in turn.
  [[nodiscard]] std::span<const ScratchSet> sets(Setting setting) const {
    return std::span(sets_).first(is_warm(setting) ? 1 : sets_.size());
  }
  /// Returns the bytes of memory as it is mapped.
  [[nodiscard]] std::int64_t mapped_bytes() const;

 private:
  /// The arrangement of the present buffers.
  struct Arrangement {
    std::int64_t placement = 0, skew = 0;
    bool rotated = false;  // more than one set
    friend bool operator==(const Arrangement&, const Arrangement&) = default;
  };
  [[nodiscard]] Judged<void> allocate(const TryRequest& request, std::int64_t allowed);
  [[nodiscard]] Status add_set();
  /// Fills set `index` as timing needs it.
  [[nodiscard]] Status fill(ScratchSet& set, std::size_t index);

  TrialDevice& device_;
  const Problem& problem_;
  std::optional<Arrangement> made_for_;
  std::vector<ScratchSet> sets_;
  std::vector<std::byte> staging_;
};

}  // namespace padlock::tuner
