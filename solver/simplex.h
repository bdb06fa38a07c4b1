#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/integer_solver.h"
#include "solver/linear_certificate.h"

namespace padlock::solver {

/// Decides systems of linear inequalities over the integers. The rational part pivots between variables at a bound and
/// variables that follow from them (Dutertre and de Moura, A Fast Linear-Arithmetic Solver for DPLL(T), CAV 2006).
/// Gomory's cuts and branching handle a rational point with a fractional variable. Numbers have 64 bits; if one does
/// not fit, or the pivots are used up, the outcome is `unknown`.
///
/// The tableau need not be trusted. A point is checked in all rows; a cut is a combination of rows. "Empty" is a
/// contradictory combination of rows, or two branches (x <= k, x > k) that are each empty.
class Simplex {
 public:
  enum class Outcome : std::uint8_t { point, empty, unknown };
  /// The largest number, above 2^62. The sum of two products of numbers up to this limit fits 126 bits.
  static constexpr Int128 kLargest = Int128{5} << 60;

  /// Borrows the rows, which are tight (see `tighten`), and adds rows during the search. Leaves out rows with a
  /// coefficient beyond `largest`, or numbers that do not fit: fewer rows make a superset, and a point is checked in
  /// all.
  Simplex(int variables, std::vector<LinearRow>& rows, Int128 largest = kLargest);

  /// Solves the system in at most `pivots` pivots.
  [[nodiscard]] Outcome solve(std::uint64_t pivots);
  /// The point that satisfies all rows, after Outcome::point.
  [[nodiscard]] const std::vector<Int128>& point() const { return point_; }

 private:
  struct Bound {
    bool is_set = false;
    std::int64_t value = 0;
    std::size_t row = 0;      // row that the bound comes from
    std::int64_t factor = 1;  // factor of that row
  };
  /// A variable of the system, or the sum of a row's terms.
  struct Variable {
    Bound lower, upper;
    int basic = -1;          // row of the tableau that it follows from, or
    int column = -1;         // column, and
    std::int64_t value = 0;  // value
  };
  /// denominator * variable == sum of numerators[column] * variable of the column
  struct TableauRow {
    int variable = 0;
    std::int64_t denominator = 1;
    std::int64_t value = 0;  // times the denominator
  };
  using Terms = std::vector<std::pair<int, std::int64_t>>;  // by variable

  void add_row(std::size_t index, Int128 largest);
  [[nodiscard]] int variable_of(const Terms& terms);
  void tighten_bound(int variable, bool lower, const Bound& bound);
  [[nodiscard]] std::span<std::int64_t> numerators(std::size_t row) {
    return std::span(numerators_).subspan(row * columns_.size(), columns_.size());
  }
  [[nodiscard]] std::span<const std::int64_t> numerators(std::size_t row) const {
    return std::span(numerators_).subspan(row * columns_.size(), columns_.size());
  }
  [[nodiscard]] Variable& variable(int index) { return variables_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Variable& variable(int index) const { return variables_[static_cast<std::size_t>(index)]; }

  [[nodiscard]] bool evaluate(std::size_t row);
  [[nodiscard]] int side_of(std::size_t row) const;
  [[nodiscard]] int violated() const;
  [[nodiscard]] int entering(std::size_t row, int side, bool first) const;
  [[nodiscard]] bool pivot(std::size_t row, std::size_t column, std::int64_t value);
  [[nodiscard]] bool eliminate(std::size_t row, std::size_t solved, std::size_t column);

  [[nodiscard]] Outcome search();
  [[nodiscard]] Outcome finish();
  [[nodiscard]] bool cut();
  [[nodiscard]] bool add_cut(const Combination& combination, std::vector<std::int64_t> multiples);
  [[nodiscard]] Outcome branch(int index, std::int64_t value);
  [[nodiscard]] Outcome conflict(std::size_t row, int side) const;
  [[nodiscard]] Outcome refuted(const Combination& combination) const;

  int asked_;  // number of the system's variables, which come first
  std::vector<LinearRow>& rows_;
  std::vector<Variable> variables_;
  std::vector<int> columns_;  // variable of each
  std::vector<TableauRow> tableau_;
  std::vector<std::int64_t> numerators_;  // by row and column
  std::vector<std::uint64_t> hashes_;     // hashes of the terms of the variable that is initially row's
  std::int64_t pivots_left_ = 0;
  int cuts_left_ = 20;
  std::vector<Int128> point_;
};

}  // namespace padlock::solver
