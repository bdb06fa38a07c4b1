#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

namespace padlock::solver {

/// sum coefficient * x[variable] + constant, of a system of inequalities.
struct LinearRow {
  std::vector<std::pair<int, Int128>> terms;  // variables distinct
  Int128 constant = 0;
  bool is_equality = false;  // == 0 instead of >= 0
};

/// Solves systems of linear inequalities over the integers, by a simplex with cuts and cases. Counts what it does. Not
/// thread-safe; one for each proof. A test may answer in its place.
class IntegerSolver {
 public:
  IntegerSolver() = default;
  virtual ~IntegerSolver() = default;
  IntegerSolver(const IntegerSolver&) = delete;
  IntegerSolver& operator=(const IntegerSolver&) = delete;

  using Answer = Result<std::optional<std::vector<Int128>>>;

  /// A point that satisfies all rows, or nothing where there is none. `pivots`: that it may take. Error:
  /// resource_exhausted where they, or numbers of 64 bits, do not suffice.
  [[nodiscard]] Answer find_point(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) {
    ++calls_;
    return solve(variables, std::move(rows), pivots);
  }

  [[nodiscard]] std::int64_t calls() const { return calls_; }

 protected:
  [[nodiscard]] virtual Answer solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots);

 private:
  std::int64_t calls_ = 0;
};

}  // namespace padlock::solver
