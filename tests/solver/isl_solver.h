#pragma once

#include <memory>

#include "solver/integer_solver.h"

// The judge of the simplex: isl, which decides the same systems by other means. Its only use, in one place, so that its
// answers cannot be misread: an error of isl is -1, true in an `if`, and its setters of constants take an int.
namespace padlock::solver {

/// Finds integer points of linear inequalities by isl. Not thread-safe.
class Isl {
 public:
  Isl();
  ~Isl();
  Isl(const Isl&) = delete;
  Isl& operator=(const Isl&) = delete;

  /// Returns a point that satisfies all rows, or that there is none. `operations`, more than 0, limits isl's work; one
  /// takes about 1 us. Errors: resource_exhausted beyond them, internal for a failure of isl.
  [[nodiscard]] IntegerSolver::Answer find_point(int variables, const std::vector<LinearRow>& rows,
                                                 std::uint64_t operations);

 private:
  struct Context;
  std::unique_ptr<Context> context_;  // made at the first question
};

/// Asks isl if the simplex does not know.
class SolverWithIsl final : public IntegerSolver {
 public:
  /// Return how many systems the simplex left to isl, and how many of them isl decided.
  [[nodiscard]] std::int64_t asked() const { return asked_; }
  [[nodiscard]] std::int64_t answered() const { return answered_; }

 private:
  Answer solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) override;

  Isl isl_;
  std::int64_t asked_ = 0, answered_ = 0;
};

}  // namespace padlock::solver
