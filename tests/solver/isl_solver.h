#pragma once

#include <memory>

#include "solver/integer_solver.h"

// The judge of the simplex: isl, which decides the same systems by other means. Its only use, in one place, so that
// what it answers cannot be misread (an error of isl is -1, true in an `if`; its setters of constants take an int).
namespace padlock::solver {

/// The integer points of linear inequalities, by isl. Not thread-safe.
class Isl {
 public:
  Isl();
  ~Isl();
  Isl(const Isl&) = delete;
  Isl& operator=(const Isl&) = delete;

  /// A point that satisfies all rows, or nothing where there is none. `operations`: of isl, that it may take, more than
  /// 0, about 1 us each. Errors: resource_exhausted where they do not suffice, internal for a failure of isl.
  [[nodiscard]] IntegerSolver::Answer find_point(int variables, const std::vector<LinearRow>& rows,
                                                 std::uint64_t operations);

 private:
  struct Context;
  std::unique_ptr<Context> context_;  // made where it is asked first
};

/// Asks isl where the simplex does not know.
class SolverWithIsl final : public IntegerSolver {
 public:
  /// Systems that the simplex left to isl, and how many of them isl decided.
  [[nodiscard]] std::int64_t asked() const { return asked_; }
  [[nodiscard]] std::int64_t answered() const { return answered_; }

 private:
  Answer solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) override;

  Isl isl_;
  std::int64_t asked_ = 0, answered_ = 0;
};

}  // namespace padlock::solver
