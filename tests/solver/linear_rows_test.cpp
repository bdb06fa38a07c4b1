#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "solver/linear_system.h"
#include "support/int128.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

// The lemma on which proofs rest: every point of an expression is a point of its linear system, so an empty system
// means that the expression has no points. Tested by points: each variable takes the value of its expression, and all
// rows must hold.
namespace padlock::solver {
namespace {

using testing::Rng;

struct Tally {
  int points = 0, rows = 0, nonlinear = 0;
};

/// Returns the values of a system's variables at a point; nullopt if one does not fit.
std::optional<std::vector<Int128>> values_at(const ir::ExprContext& exprs, const LinearSystem& system,
                                             const std::vector<std::int64_t>& point) {
  std::vector<Int128> values;
  for (int v = 0; v < system.variable_count(); ++v) {
    if (!system.variable(v).valid()) {
      // A multiple in the congruence of the symbol before it: symbol == modulus * multiple + residue.
      const ir::Congruence known = system.variable(v - 1).congruence();
      values.push_back((values.back() - known.residue) / known.modulus);
      continue;
    }
    const Result<Int128> value = ir::evaluate(exprs, system.variable(v), point);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<Int128> value_of(const LinearRow& row, const std::vector<Int128>& values) {
  std::optional<Int128> sum = row.constant;
  for (const auto& [variable, coefficient] : row.terms) {
    const auto term = checked_mul<Int128>(coefficient, values[static_cast<std::size_t>(variable)]);
    sum = term && sum ? checked_add<Int128>(*sum, *term) : std::nullopt;
  }
  return sum;
}

/// Empty, or which row the point breaks.
std::string broken_row(const LinearSystem& system, const std::vector<Int128>& values, Tally& tally) {
  const auto holds = [&](const LinearRow& row) {
    const std::optional<Int128> value = value_of(row, values);
    tally.rows += value.has_value();
    return !value || (row.is_equality ? *value == 0 : *value >= 0);
  };
  for (int v = 0; v < system.variable_count(); ++v)
    for (std::size_t i = 0; i < system.definition(v).size(); ++i)
      if (!holds(system.definition(v)[i])) return "row " + std::to_string(i) + " of variable " + std::to_string(v);
  for (const LinearRow& row : system.far_bounds())
    if (!holds(row)) return "a bound of variable " + std::to_string(row.terms.front().first);
  return {};
}

/// Asks for the row of every operand of every variable; whether that made variables.
bool operands_make_variables(LinearSystem& system) {
  const int count = system.variable_count();
  for (int v = 0; v < count; ++v)
    if (system.variable(v).valid())
      for (const ir::Expr operand : system.variable(v).operands()) (void)system.row_of(operand);
  return system.variable_count() != count;
}

void check_expression(Rng& random, Tally& tally) {
  ir::ExprContext exprs;
  const std::vector<ir::Expr> symbols = testing::declare_assorted_symbols(exprs);
  const testing::Tree tree = testing::draw_tree(random, symbols, 4);
  const ir::Expr e = tree.build(exprs, symbols);
  LinearSystem system(exprs);
  const std::optional<LinearRow> row = system.row_of(e);
  if (!row) return;
  CAPTURE(ir::to_string(exprs, e));
  CHECK_FALSE(operands_make_variables(system));
  for (const auto& term : row->terms) tally.nonlinear += system.variable(term.first).kind() != ir::ExprKind::symbol;
  for (int draw = 0; draw < 20; ++draw) {
    const std::vector<std::int64_t> point = testing::draw_values(random, exprs);
    const Result<Int128> value = ir::evaluate(exprs, e, point);
    const std::optional<std::vector<Int128>> values = values_at(exprs, system, point);
    if (!value || !values) continue;
    ++tally.points;
    if (const std::optional<Int128> sum = value_of(*row, *values)) CHECK(static_cast<bool>(*sum == *value));
    CHECK(broken_row(system, *values, tally) == "");
  }
}

}  // namespace

TEST_CASE("the operands of a variable have rows") {
  const std::uint64_t seed = testing::seed_or(169760);
  CAPTURE(seed);
  Rng random(seed);
  for (int i = 0; i < 500; ++i) {
    ir::ExprContext exprs;
    const std::vector<ir::Expr> symbols = testing::declare_assorted_symbols(exprs);
    ir::Expr product = exprs.constant(1);
    for (int factor = 0; factor < 6; ++factor)
      product = exprs.mul(product, testing::draw_tree(random, symbols, 3).build(exprs, symbols));
    CAPTURE(ir::to_string(exprs, product));
    LinearSystem system(exprs);
    (void)system.row_of(product);
    REQUIRE_FALSE(operands_make_variables(system));
  }
}

TEST_CASE("every point of an expression is one of its linear system") {
  const std::uint64_t seed = testing::seed_or(169760);
  CAPTURE(seed);
  Rng random(seed);
  Tally tally;
  for (int i = 0; i < 4000; ++i) check_expression(random, tally);
  MESSAGE("seed " << seed << ": " << tally.points << " points, " << tally.rows << " rows, " << tally.nonlinear
                  << " terms that are not linear");
  CHECK(tally.points > 10'000);
  CHECK(tally.rows > tally.points);
  CHECK(tally.nonlinear > 1'000);
}

}  // namespace padlock::solver
