#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

namespace padlock::solver {

/// A row of a linear system: sum coefficient * x[variable] + constant >= 0, or == 0.
struct LinearRow {
  std::vector<std::pair<int, Int128>> terms;  // variables distinct
  Int128 constant = 0;
  bool is_equality = false;  // == 0 instead of >= 0
};

/// Solves systems of linear inequalities over the integers, by a simplex with cuts and branches. Counts its calls. Not
/// thread-safe; each proof has its own. Tests may override `solve`.
class IntegerSolver {
 public:
  IntegerSolver() = default;
  virtual ~IntegerSolver() = default;
  IntegerSolver(const IntegerSolver&) = delete;
  IntegerSolver& operator=(const IntegerSolver&) = delete;

  using Answer = Result<std::optional<std::vector<Int128>>>;

  /// Finds a point that satisfies all rows, or nullopt if there is none, in at most `pivots` pivots. Error:
  /// resource_exhausted if the pivots or 64-bit numbers do not suffice.
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
