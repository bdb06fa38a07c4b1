#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/common/rng.h"

// A fuzz target has one body and, for the seeded engine, a maker of inputs. libFuzzer makes its own.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace padlock::fuzz {

/// Makes an input: a valid one, corrupted in a few places, or sometimes unchanged.
[[nodiscard]] std::string make_input(testing::Rng& rng);

/// Returns the seconds of processor time that the body may take for one input, without sanitizers.
[[nodiscard]] double seconds_allowed();

/// Ends the process if a property does not hold; either engine then shows the input.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", property);
  std::abort();
}

/// Ends the process if a pass has taken more than `limit` steps, plus one operation that began within it.
inline void require_steps(std::int64_t taken, std::int64_t limit) {
  if (taken > limit + limit / 4 + 500'000)
    std::fprintf(stderr, "%lld steps, the limit is %lld\n", static_cast<long long>(taken),
                 static_cast<long long>(limit));
  require(taken <= limit + limit / 4 + 500'000, "a pass ends within its limit of steps");
}

}  // namespace padlock::fuzz
