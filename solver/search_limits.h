#pragma once

#include <cstdint>

#include "support/limits.h"

namespace padlock::solver {

/// Limits of a proof's cost. Counted, not timed, so that a verdict is the same on every machine.
struct SearchLimits {
  std::uint64_t pivots = 300;            ///< pivots of the simplex in one call of the solver
  int calls = 200;                       ///< calls of the solver for one question
  std::int64_t question_work = 400'000;  ///< limit of `work` for one question
  /// Step limit while only rows connected to the goal are used; what needs more is mostly unprovable.
  std::int64_t connected_steps = limits::kQuestionSteps;
  /// Sum of rows times variables over all calls for all questions about a kernel, about 30 ns each.
  std::int64_t work = 8'000'000;
  /// Steps (support/steps.h) of the whole proof, including making the questions' expressions.
  std::int64_t steps = limits::kProofSteps;
};

}  // namespace padlock::solver
