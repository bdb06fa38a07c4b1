#pragma once

#include <cstdint>
#include <iterator>

#include "support/split_mix.h"

namespace padlock::testing {

/// Draws the same numbers for a seed on every machine, unlike the standard distributions.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : numbers_(seed) {}

  std::uint64_t next() { return numbers_.next(); }
  /// Uniform in [lo, hi]. Precondition: lo <= hi.
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    const auto span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    const std::uint64_t step = span == 0 ? next() : next() % span;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + step);
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  /// Draws one element of a non-empty range.
  template <class Container>
  auto& pick(Container& items) {
    return items[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(std::size(items)) - 1))];
  }
  /// Returns an independent generator, so that the draws of one part do not shift those of another.
  [[nodiscard]] Rng fork(std::uint64_t salt) const {
    return Rng(Rng(numbers_.state() ^ (salt * 0xd1342543de82ef95)).next());
  }

 private:
  SplitMix numbers_;
};

}  // namespace padlock::testing
