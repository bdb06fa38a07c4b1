#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/statistics.h"

namespace padlock::bench::gpu {

/// One way to do the job that is timed. `sample_ms` does it some times and says what one took, in milliseconds.
struct Contestant {
  std::string name;
  std::function<Result<double>()> sample_ms;
};

/// Timing says what one contestant took. Paired estimates compare samples of the same round with the baseline's.
struct Timing {
  std::string name;
  Estimate ms;
  Estimate ratio;          ///< of its time to the baseline's; 1 of the baseline itself
  Estimate difference_ms;  ///< its time less the baseline's
};

/// Times the contestants side by side: in every round each gives one sample, in an order shuffled anew, so that a
/// change of clocks meets all alike. The first is the baseline and takes part twice: the second row, "NAME again",
/// differs from the first by noise alone. One round before the others counts nothing. Errors: the first contestant's
/// that fails.
[[nodiscard]] Result<std::vector<Timing>> measure(const std::vector<Contestant>& contestants, int rounds,
                                                  std::uint64_t seed);

}  // namespace padlock::bench::gpu
