#pragma once

#include <cstdint>

namespace padlock::compiler {

/// What proving may cost. Counted, not timed, so that a verdict is the same on every machine.
struct SearchLimits {
  std::uint64_t operations = 2'000;      ///< isl operations (pivots, about 1 us each) of one call
  int calls = 200;                       ///< calls of isl for one question
  std::int64_t question_work = 200'000;  ///< as `work`, for one question
  /// For all questions about a kernel: the sum of rows times variables over all calls, up to 1 us each.
  std::int64_t work = 2'000'000;
};

}  // namespace padlock::compiler
