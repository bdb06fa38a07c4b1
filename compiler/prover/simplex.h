#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/prover/integer_set.h"
#include "compiler/prover/linear_certificate.h"

namespace padlock::compiler {

/// Decides most systems of linear inequalities over the integers much sooner than isl: rationally, by pivots between
/// variables that stand at a bound and variables that follow from them (Dutertre and de Moura, A Fast Linear-Arithmetic
/// Solver for DPLL(T), CAV 2006), and by cases where a variable of the rational point is not whole. In 64 bits. What it
/// finds is checked in the rows themselves, so that nothing here need be trusted; where it does not fit, or takes too
/// long, it knows nothing.
class Simplex {
 public:
  enum class Outcome : std::uint8_t { point, empty, unknown };

  /// Borrows the rows, and adds some while it searches.
  Simplex(int variables, std::vector<LinearRow>& rows);

  /// Takes at most `pivots`.
  [[nodiscard]] Outcome solve(std::uint64_t pivots);
  /// A point that satisfies all rows, after Outcome::point.
  [[nodiscard]] const std::vector<Int128>& point() const { return point_; }

 private:
  struct Bound {
    bool is_set = false;
    std::int64_t value = 0;
    std::size_t row = 0;      // that it comes from,
    std::int64_t factor = 1;  // and times what
  };
  /// One that is asked for, or the sum of a row's terms.
  struct Variable {
    Bound lower, upper;
    int basic = -1;          // row of the tableau that it follows from, or
    int column = -1;         // column, and
    std::int64_t value = 0;  // value
  };
  /// denominator * variable == sum of numerators[column] * variable of the column
  struct TableauRow {
    int variable;
    std::int64_t denominator = 1;
    std::vector<std::int64_t> numerators;
    std::int64_t value = 0;  // times the denominator
  };
  using Terms = std::vector<std::pair<int, std::int64_t>>;

  void add_row(std::size_t index, std::map<Terms, int>& sums);
  void tighten(int variable, bool lower, const Bound& bound);
  [[nodiscard]] bool evaluate(TableauRow& row) const;
  [[nodiscard]] int side_of(const TableauRow& row) const;
  [[nodiscard]] int violated() const;
  [[nodiscard]] int entering(const TableauRow& row, int side, bool first) const;
  bool pivot(std::size_t row, std::size_t column, std::int64_t value);
  [[nodiscard]] Outcome conflict(const TableauRow& row, int side) const;
  [[nodiscard]] Outcome refuted(const Combination& combination) const;
  [[nodiscard]] Outcome search();
  [[nodiscard]] Outcome finish();
  [[nodiscard]] Outcome branch(int variable, std::int64_t value);

  int asked_;  // variables that are asked for: the first
  std::vector<LinearRow>& rows_;
  std::vector<Variable> variables_;
  std::vector<int> columns_;  // variable of each
  std::vector<TableauRow> tableau_;
  bool empty_ = false;  // a row is a contradiction of its own
  std::int64_t pivots_left_ = 0;
  std::vector<Int128> point_;
};

}  // namespace padlock::compiler
