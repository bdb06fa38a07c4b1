#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "solver/integer_solver.h"
#include "solver/linear_certificate.h"
#include "solver/simplex.h"
#include "tests/common/environment.h"
#include "tests/common/rng.h"
#include "tests/solver/isl_solver.h"

// isl must not contradict an answer of the simplex, and an inconclusive result must not count as a proof.
namespace padlock::solver {
namespace {

using testing::Rng;

struct System {
  int variables = 0;
  std::vector<LinearRow> rows;
};

Int128 draw_constant(Rng& random) {
  if (random.chance(90)) return random.between(-20, 20);
  const Int128 large = Int128{1} << random.between(20, 90);
  return random.chance(50) ? large : -large;
}

/// Shaped like the prover's: many bounds, differences of two, some quotients, few large numbers.
LinearRow draw_row(Rng& random, int variables) {
  LinearRow row{.terms = {}, .constant = draw_constant(random), .is_equality = random.chance(15)};
  const auto terms = static_cast<int>(random.between(random.chance(5) ? 0 : 1, 4));
  for (int i = 0; i < terms; ++i) {
    const auto variable = static_cast<int>(random.between(0, variables - 1));
    if (std::ranges::any_of(row.terms, [&](const auto& term) { return term.first == variable; })) continue;
    Int128 coefficient = random.chance(80) ? (random.chance(50) ? 1 : -1) : Int128{random.between(-9, 9)};
    if (random.chance(1)) coefficient = draw_constant(random);
    row.terms.emplace_back(variable, coefficient);
  }
  return row;
}

System draw_system(Rng& random) {
  System system{.variables = static_cast<int>(random.between(1, 9)), .rows = {}};
  const std::int64_t rows = random.between(1, 3 * system.variables);
  for (int v = 0; v < system.variables; ++v)
    if (random.chance(60)) system.rows.push_back({.terms = {{v, 1}}, .constant = random.between(-3, 3)});
  for (std::int64_t i = 0; i < rows; ++i) system.rows.push_back(draw_row(random, system.variables));
  return system;
}

/// Whether all rows hold, in arithmetic of its own.
bool satisfies(const System& system, const std::vector<Int128>& point) {
  for (const LinearRow& row : system.rows) {
    Int128 value = row.constant;
    for (const auto& [variable, coefficient] : row.terms) {
      const auto term = checked_mul(coefficient, point[static_cast<std::size_t>(variable)]);
      const auto sum = term ? checked_add(value, *term) : std::nullopt;
      if (!sum) return false;
      value = *sum;
    }
    if (row.is_equality ? value != 0 : value < 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("isl finds no point where the simplex finds none") {
  const std::uint64_t seed = testing::seed_or(169760);
  CAPTURE(seed);
  Rng random(seed);
  int points = 0, empty = 0, unknown = 0, unjudged = 0;
  for (int i = 0; i < 20'000; ++i) {
    CAPTURE(i);
    const System system = draw_system(random);
    std::vector<LinearRow> rows = system.rows;
    for (LinearRow& row : rows)
      if (!contradicts_itself(row)) tighten(row);
    Simplex simplex(system.variables, rows);
    const Simplex::Outcome outcome = simplex.solve(300);
    REQUIRE(rows.size() == system.rows.size());
    unknown += outcome == Simplex::Outcome::unknown;
    if (outcome == Simplex::Outcome::point) {
      ++points;
      REQUIRE(satisfies(system, simplex.point()));
    }
    if (outcome != Simplex::Outcome::empty) continue;
    ++empty;
    Isl isl;
    const IntegerSolver::Answer judge = isl.find_point(system.variables, system.rows, 100'000);
    if (judge)
      REQUIRE_FALSE(judge->has_value());
    else
      ++unjudged;
  }
  MESSAGE("seed " << seed << ": " << points << " points, " << empty << " empty (" << unjudged << " not judged), "
                  << unknown << " not decided");
  CHECK(points > 5'000);
  CHECK(empty > 5'000);
  CHECK(unknown < 2'000);
  CHECK(unjudged < 20);
}

TEST_CASE("a point between cuts and cases is not overlooked") {
  const std::uint64_t seed = testing::seed_or(169760);
  CAPTURE(seed);
  Rng random(seed);
  int points = 0;
  for (int i = 0; i < 20'000; ++i) {
    CAPTURE(i);
    const auto variables = static_cast<int>(random.between(2, 5));
    std::vector<Int128> hidden;
    for (int v = 0; v < variables; ++v) hidden.emplace_back(random.between(-20, 20));
    // Rows that it satisfies just so.
    std::vector<LinearRow> rows;
    for (std::int64_t r = random.between(2, 8); r > 0; --r) {
      LinearRow row{.terms = {}, .constant = random.between(0, 3), .is_equality = false};
      for (int v = 0; v < variables; ++v) {
        const std::int64_t coefficient = random.between(-12, 12);
        row.terms.emplace_back(v, coefficient);
        row.constant -= coefficient * hidden[static_cast<std::size_t>(v)];
      }
      tighten(row);
      rows.push_back(std::move(row));
    }
    REQUIRE(std::ranges::all_of(rows, [&](const LinearRow& row) { return holds_at(row, hidden); }));
    Simplex simplex(variables, rows);
    const Simplex::Outcome outcome = simplex.solve(300);
    REQUIRE(outcome != Simplex::Outcome::empty);
    points += outcome == Simplex::Outcome::point;
  }
  MESSAGE("seed " << seed << ": " << points << " points");
  CHECK(points > 10'000);
}

TEST_CASE("a combination that proves nothing is not taken") {
  // x >= 3, x <= 5, 2 x == 8
  const std::vector<LinearRow> rows = {{.terms = {{0, 1}}, .constant = -3},
                                       {.terms = {{0, -1}}, .constant = 5},
                                       {.terms = {{0, 2}}, .constant = -8, .is_equality = true}};
  CHECK_FALSE(refutes(1, rows, {}));
  CHECK_FALSE(refutes(1, rows, {{0, 1}, {1, 1}}));    // 2 >= 0
  CHECK_FALSE(refutes(1, rows, {{0, -1}, {1, -1}}));  // -2, by factors that turn inequalities around
  CHECK_FALSE(refutes(1, rows, {{0, 1}}));            // a variable is left
  CHECK_FALSE(refutes(1, rows, {{1, 1}, {2, 1}}));    // 1 >= 0
  // A sum beyond 128 bits.
  const Int128 large = Int128{1} << 126;
  const std::vector<LinearRow> wide = {{.terms = {{0, 1}}, .constant = -large},
                                       {.terms = {{0, -1}}, .constant = -large}};
  CHECK(refutes(1, wide, {{0, 1}, {1, 1}}));
  CHECK_FALSE(refutes(1, wide, {{0, 2}, {1, 2}}));
}

TEST_CASE("what no integer satisfies is empty, though rationals do") {
  // 2 x - 2 y between 1 and 1; 3 <= 2 x <= 3; x + y odd with x == y.
  const std::vector<System> systems = {{2, {{.terms = {{0, 2}, {1, -2}}, .constant = -1, .is_equality = true}}},
                                       {1, {{.terms = {{0, 2}}, .constant = -3}, {.terms = {{0, -2}}, .constant = 3}}},
                                       {3,
                                        {{.terms = {{0, 1}, {1, 1}, {2, -2}}, .constant = -1, .is_equality = true},
                                         {.terms = {{0, 1}, {1, -1}}, .constant = 0, .is_equality = true},
                                         {.terms = {{0, 1}}, .constant = 0},
                                         {.terms = {{0, -1}}, .constant = 6}}}};
  for (System system : systems) {
    CAPTURE(system.variables);
    if (std::ranges::any_of(system.rows, contradicts_itself)) continue;
    std::ranges::for_each(system.rows, tighten);
    CHECK(Simplex(system.variables, system.rows).solve(300) == Simplex::Outcome::empty);
  }
}

}  // namespace padlock::solver
