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

/// The scratch buffers of one problem: one set serves verification and what is timed warm, and as many as exceed the
/// last cache serve what is timed cold.
/// Borrows the device and the problem. Not thread-safe.
class ProblemScratch {
 public:
  ProblemScratch(TrialDevice& device, const Problem& problem) : device_(device), problem_(problem) {}

  /// Makes buffers as the request asks for them, of `allowed` bytes at most, where it has none yet, or has others: what
  /// a config owes to the pages that its buffers happen to have, it keeps as long as it runs on them. After a failure
  /// there are none.
  [[nodiscard]] Judged<void> provide(const TryRequest& request, std::int64_t allowed);
  /// Fills the first set as the others are, after it has served verification.
  [[nodiscard]] Judged<void> restore_first();
  /// Finds red zones that are damaged, of any set; `comparison`, where it is not null, says quickly that none is.
  [[nodiscard]] Judged<void> check(runtime::Comparison* comparison) const;

  [[nodiscard]] ScratchSet& first() { return sets_.front(); }
  /// Returns those that are timed in turn.
  [[nodiscard]] std::span<const ScratchSet> sets(Setting setting) const {
    return std::span(sets_).first(is_warm(setting) ? 1 : sets_.size());
  }
  /// Returns the bytes of memory as it is mapped.
  [[nodiscard]] std::int64_t mapped_bytes() const;

 private:
  /// The arrangement that buffers were made for.
  struct Arrangement {
    std::int64_t placement = 0, skew = 0;
    bool rotated = false;  // more sets than one
    friend bool operator==(const Arrangement&, const Arrangement&) = default;
  };
  [[nodiscard]] Judged<void> allocate(const TryRequest& request, std::int64_t allowed);
  [[nodiscard]] Status add_set();
  /// As the set with that index is while configs are timed.
  [[nodiscard]] Status fill(ScratchSet& set, std::size_t index);

  TrialDevice& device_;
  const Problem& problem_;
  std::optional<Arrangement> made_for_;
  std::vector<ScratchSet> sets_;
  std::vector<std::byte> staging_;
};

}  // namespace padlock::tuner
