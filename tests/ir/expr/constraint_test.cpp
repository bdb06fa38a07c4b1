#include "ir/expr/constraint.h"

#include <doctest/doctest.h>

#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

struct Fixture {
  ExprContext c;
  Facts facts{c};
  Expr S = extent("S"), T = extent("T"), U = extent("U");
  Expr lo = dim("lo"), hi = dim("hi");

  Expr extent(std::string name) { return c.declare({std::move(name), SymbolKind::extent, {0, Int128{1} << 40}, {}}); }
  Expr dim(std::string name) {
    return c.declare({std::move(name), SymbolKind::dim, {-(Int128{1} << 40), Int128{1} << 40}, {}});
  }
  Expr k(Int128 v) { return c.constant(v); }
};

}  // namespace

TEST_CASE("comparisons hold and print as written") {
  CHECK(holds(1, Comparison::le, 1));
  CHECK_FALSE(holds(1, Comparison::lt, 1));
  CHECK(holds(1, Comparison::eq, 1));
  CHECK(holds(2, Comparison::gt, 1));
  CHECK_FALSE(holds(0, Comparison::ge, 1));
  CHECK(name_of(Comparison::ge) == ">=");
  ExprContext c;
  const Expr S = c.declare({"S", SymbolKind::extent, {0, 9}, {}});
  CHECK(to_string(c, {c.add(S, c.constant(1)), Comparison::lt, c.constant(5)}) == "S + 1 < 5");
}

TEST_CASE_FIXTURE(Fixture, "ranges alone") {
  CHECK(facts.proves_nonnegative(S));
  CHECK_FALSE(facts.proves_positive(S));
  CHECK(facts.proves_positive(c.add(S, k(1))));
  CHECK_FALSE(facts.proves_nonnegative(lo));
  CHECK(facts.proves({S, Comparison::le, k(Int128{1} << 40)}));
  CHECK(facts.refutes({S, Comparison::lt, k(0)}));
  CHECK(facts.refutes({c.mul(k(2), S), Comparison::eq, c.add(c.mul(k(2), T), k(1))}));  // parity
  CHECK_FALSE(facts.refutes({S, Comparison::eq, T}));
}

TEST_CASE_FIXTURE(Fixture, "a constraint shows itself, a common divisor and an odd constant included") {
  const Expr odd = c.add(c.sub(c.mul(k(2), lo), c.mul(k(2), S)), k(1));
  facts.add({odd, Comparison::ge, k(0)});
  CHECK(facts.proves_nonnegative(odd));
  CHECK(facts.proves_nonnegative(c.sub(lo, S)));  // an integer at least -1/2
  CHECK_FALSE(facts.proves_positive(c.sub(lo, S)));
}

TEST_CASE_FIXTURE(Fixture, "one constraint, with the right sign") {
  facts.add({c.add(S, lo), Comparison::ge, k(0)});
  CHECK(facts.proves_nonnegative(c.add(S, lo)));
  CHECK(facts.proves_nonnegative(c.add(c.add(S, lo), T)));
  CHECK(facts.proves_nonnegative(c.mul(k(3), c.add(S, lo))));
  CHECK(facts.proves_positive(c.add(c.add(S, lo), k(1))));
  CHECK_FALSE(facts.proves_positive(c.add(S, lo)));
  CHECK_FALSE(facts.proves_nonnegative(c.sub(S, lo)));
  CHECK(facts.refutes({c.add(S, lo), Comparison::lt, k(0)}));
  CHECK(facts.refutes({c.add(S, lo), Comparison::eq, k(-1)}));
}

TEST_CASE_FIXTURE(Fixture, "strict and equal constraints") {
  facts.add({S, Comparison::lt, T});
  facts.add({U, Comparison::eq, c.add(S, k(2))});
  CHECK(facts.proves({S, Comparison::le, c.sub(T, k(1))}));
  CHECK_FALSE(facts.proves({S, Comparison::le, c.sub(T, k(2))}));
  CHECK(facts.proves_equal(U, c.add(S, k(2))));
  CHECK(facts.proves_equal(c.mul(k(2), U), c.add(c.mul(k(2), S), k(4))));
  CHECK(facts.proves_equal(c.sub(U, S), k(2)));
  CHECK_FALSE(facts.proves_equal(U, S));
  CHECK(facts.refutes({U, Comparison::eq, S}));
  CHECK(facts.proves({U, Comparison::gt, S}));
  CHECK(facts.proves({U, Comparison::le, c.add(T, k(1))}));  // both
}

TEST_CASE_FIXTURE(Fixture, "signs of terms and factors") {
  facts.add({lo, Comparison::ge, k(1)});
  facts.add({hi, Comparison::le, k(0)});
  CHECK(facts.proves_nonnegative(c.mul(lo, S)));
  CHECK(facts.proves_positive(c.add(c.mul(lo, S), k(1))));
  CHECK(facts.proves_nonnegative(c.sub(c.mul(lo, S), S)));                       // S * (lo - 1)
  CHECK(facts.proves_nonnegative(c.sub(c.mul(c.mul(lo, S), T), c.mul(S, hi))));  // two different reasons
  CHECK_FALSE(facts.proves_nonnegative(c.add(c.mul(lo, S), c.mul(S, hi))));
  CHECK(facts.proves_nonnegative(c.mul(hi, hi)));
}

TEST_CASE_FIXTURE(Fixture, "what minima, maxima, quotients and remainders are bounded by") {
  const Expr m = c.add(c.add(c.max(c.sub(S, k(1)), k(0)), lo), k(1));
  facts.add({c.add(S, lo), Comparison::ge, k(0)});
  CHECK(facts.proves_nonnegative(m));
  CHECK(facts.proves_nonnegative(c.sub(S, c.min(S, lo))));
  CHECK(facts.proves_nonnegative(c.sub(c.mul(k(8), c.ceildiv(S, k(8))), S)));
  CHECK(facts.proves_nonnegative(c.sub(S, c.mul(k(8), c.floordiv(S, k(8))))));
  CHECK_FALSE(facts.proves_positive(c.sub(c.mul(k(8), c.ceildiv(S, k(8))), S)));
  const Expr T1 = c.add(T, k(1));
  CHECK(facts.proves_nonnegative(c.sub(T, c.mod(lo, T1))));
  CHECK_FALSE(facts.proves_positive(c.sub(T, c.mod(lo, T1))));
}

TEST_CASE_FIXTURE(Fixture, "a question costs a bounded number of steps") {
  std::vector<Expr> x;
  for (int i = 0; i < 200; ++i) x.push_back(dim("x" + std::to_string(i)));
  for (int i = 0; i < 200; ++i)
    for (int j = 1; j < 6; ++j)
      facts.add({x[static_cast<std::size_t>(i)], Comparison::le, x[static_cast<std::size_t>((i + j * 7) % 200)]});
  Expr sum = k(0);
  for (const Expr e : x) sum = c.add(sum, c.max(e, c.mul(e, e)));
  CHECK_FALSE(facts.proves_nonnegative(c.sub(k(0), sum)));
  CHECK(facts.proves({x[0], Comparison::le, x[14]}));
}

// Soundness: for every drawn binding that satisfies the constraints, proved comparisons hold and refuted ones do not.
TEST_CASE("random constraints never prove what is false") {
  const std::uint64_t seed = testing::seed_or(7);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  int proved = 0, refuted = 0, tested = 0;
  for (int round = 0; round < 300; ++round) {
    ExprContext c;
    std::vector<Expr> symbols;
    for (int i = 0; i < 3; ++i)
      symbols.push_back(c.declare({"s" + std::to_string(i), SymbolKind::dim, {i == 2 ? 1 : -6, 6}, {}}));
    const auto draw = [&] {
      const auto comparison = static_cast<Comparison>(random.between(0, 4));
      const Expr a = testing::draw_tree(random, symbols, 2).build(c, symbols);
      return Constraint{a, comparison,
                        testing::draw_tree(random, symbols, random.chance(50) ? 0 : 2).build(c, symbols)};
    };
    const std::vector<Constraint> stated = {draw(), draw()};
    Facts facts(c);
    for (const Constraint& s : stated) facts.add(s);
    std::vector<Constraint> goals, yes, no;
    for (int i = 0; i < 6; ++i) goals.push_back(draw());
    for (const Constraint& s : stated)
      goals.push_back({s.lhs, s.comparison, c.add(s.rhs, c.constant(random.between(-1, 1)))});
    for (const Constraint& g : goals) {
      if (facts.proves(g)) yes.push_back(g);
      if (facts.refutes(g)) no.push_back(g);
    }
    proved += static_cast<int>(yes.size());
    refuted += static_cast<int>(no.size());
    for (int draw_index = 0; draw_index < 60; ++draw_index) {
      const auto values = testing::draw_values(random, c);
      const auto truth = [&](const Constraint& g) -> std::optional<bool> {
        const auto a = evaluate(c, g.lhs, values), b = evaluate(c, g.rhs, values);
        return a && b ? std::optional(holds(*a, g.comparison, *b)) : std::nullopt;
      };
      bool admissible = true;
      for (const Constraint& s : stated) admissible = admissible && truth(s).value_or(false);
      if (!admissible) continue;
      ++tested;
      CAPTURE(seed);
      CAPTURE(to_string(c, stated[0]));
      CAPTURE(to_string(c, stated[1]));
      for (const Constraint& g : yes) {
        CAPTURE(to_string(c, g));
        REQUIRE(truth(g).value_or(true));
      }
      for (const Constraint& g : no) {
        CAPTURE(to_string(c, g));
        REQUIRE_FALSE(truth(g).value_or(false));
      }
    }
  }
  MESSAGE("proved ", proved, ", refuted ", refuted, ", on bindings ", tested);
  CHECK(proved > 200);
  CHECK(refuted > 100);
  CHECK(tested > 1000);
}
