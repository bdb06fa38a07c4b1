#include "ir/expr/simplify.h"

#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"
#include "tests/ir/expr/z3_expr.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

constexpr int kDraws = 400;    // operand pairs per rule and kind of shape
constexpr int kQuestions = 4;  // to Z3, per rule
constexpr unsigned kEffort = 300'000;

/// Draws operands of the shapes that rules look for.
class Operands {
 public:
  Operands(testing::Rng& random, ExprContext& context, const std::vector<Expr>& symbols)
      : random_(random), c_(context), symbols_(symbols) {}

  std::pair<Expr, Expr> draw(ExprKind kind) {
    switch (kind) {
      case ExprKind::product:
        return indicator_pair();
      case ExprKind::min:
      case ExprKind::max:
        return ordered_pair();
      default:
        return dividend_and_divisor();
    }
  }

 private:
  Expr k(Int128 v) { return c_.constant(v); }
  Expr symbol() { return random_.pick(symbols_); }
  Expr small() { return symbols_[static_cast<std::size_t>(random_.between(0, 4))]; }
  Expr any() { return testing::draw_tree(random_, symbols_, 2).build(c_, symbols_); }
  Expr term() { return random_.chance(70) ? symbol() : any(); }
  Expr sum() { return c_.add(c_.mul(k(random_.between(-9, 9)), term()), k(random_.between(-20, 20))); }

  Expr divisor() {
    const Expr t = symbols_[1], u = symbols_[3];
    switch (random_.between(0, 9)) {
      case 0:
        return t;
      case 1:
        return c_.mul(k(random_.between(1, 4)), u);
      case 2:
        return c_.mul(t, u);
      case 3:
        return c_.add(t, k(random_.between(0, 5)));
      case 4:
        return c_.add(t, u);
      default:
        return k(random_.chance(60) ? Int128{1} << random_.between(0, 5) : Int128{random_.between(1, 24)});
    }
  }

  std::pair<Expr, Expr> dividend_and_divisor() {
    const Expr d = divisor();
    const Expr multiple = c_.mul(d, k(random_.between(1, 4)));
    switch (random_.between(0, 9)) {
      case 0:
        return {k(random_.between(-100, 100)), d};
      case 1:
        return {small(), d};
      case 2:
        return {c_.add(c_.mul(c_.mul(d, term()), k(random_.between(-3, 3))), sum()), d};
      case 3:
        return {c_.add(c_.mul(d, k(random_.between(-3, 3))), c_.add(sum(), small())), d};
      case 4:
        return {c_.add(c_.mod(sum(), multiple), random_.chance(50) ? k(0) : sum()), d};
      case 5:
        return {c_.floordiv(sum(), divisor()), d};
      case 6:
        return {c_.mul(k(random_.between(-8, 8)), sum()), d};
      case 7:
        return {c_.sub(c_.mod(sum(), d), random_.chance(50) ? k(0) : d), d};
      case 8:
        return {c_.add(sum(), sum()), d};
      default:
        return {any(), d};
    }
  }

  std::pair<Expr, Expr> ordered_pair() {
    const Expr x = random_.chance(50) ? sum() : any(), y = sum();
    switch (random_.between(0, 6)) {
      case 0:
        return {x, c_.add(x, k(random_.between(-5, 5)))};
      case 1:
        return {x, c_.max(x, y)};
      case 2:
        return {c_.min(y, x), c_.add(x, small())};
      case 3:
        return {c_.min(x, y), c_.min(c_.add(x, small()), c_.add(y, k(random_.between(-2, 4))))};
      case 4:
        return {c_.max(x, y), c_.max(c_.add(x, small()), c_.add(y, k(random_.between(-2, 4))))};
      case 5:
        return {c_.min(c_.add(x, small()), c_.add(x, k(random_.between(0, 3)))), x};
      default:
        return {x, y};
    }
  }

  std::pair<Expr, Expr> indicator_pair() {
    const Expr e = random_.chance(60) ? small() : any();
    const Expr indicator = c_.min(e, k(random_.chance(80) ? 1 : 2));
    return {indicator, random_.chance(30) ? indicator : random_.chance(70) ? e : any()};
  }

  testing::Rng& random_;
  ExprContext& c_;
  const std::vector<Expr>& symbols_;
};

/// kind(a, b) by definition.
std::optional<Int128> defined(ExprKind kind, Int128 a, Int128 b) {
  switch (kind) {
    case ExprKind::product:
      return checked_mul(a, b);
    case ExprKind::floordiv:
      return b > 0 ? std::optional(floor_div(a, b)) : std::nullopt;
    case ExprKind::mod:
      return b > 0 ? std::optional(floor_mod(a, b)) : std::nullopt;
    case ExprKind::min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

z3::expr defined(testing::Z3Judge& z3, ExprKind kind, Expr a, Expr b) {
  const z3::expr x = z3.of(a), y = z3.of(b);
  switch (kind) {
    case ExprKind::product:
      return x * y;
    case ExprKind::floordiv:
      return z3.quotient(x, y);
    case ExprKind::mod:
      return z3::mod(x, y);
    case ExprKind::min:
      return z3::ite(x <= y, x, y);
    default:
      return z3::ite(x >= y, x, y);
  }
}

/// How many values were compared.
int check_by_values(testing::Rng& random, const ExprContext& c, ExprKind kind, Expr a, Expr b, Expr result) {
  int compared = 0;
  for (int i = 0; i < 6; ++i) {
    const auto values = testing::draw_values(random, c);
    const auto x = evaluate(c, a, values), y = evaluate(c, b, values);
    if (!x || !y) continue;
    const auto expected = defined(kind, *x, *y);
    if (!expected) continue;
    const auto actual = evaluate(c, result, values);
    REQUIRE(actual.has_value());
    REQUIRE(padlock::to_string(*actual) == padlock::to_string(*expected));
    ++compared;
  }
  return compared;
}

}  // namespace

// One table drives the simplifier and this test. Every rule is tried on random operands. If it fires, its result is
// compared with the definition on random values and, for a few, proved by Z3 for all values.
TEST_CASE("every rule of the table fires and is right") {
  const std::uint64_t seed = testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::set<std::string_view> names;
  int asked = 0, unknown = 0;
  for (const Rule& rule : simplification_rules()) {
    CAPTURE(seed);
    CAPTURE(rule.name);
    REQUIRE(names.insert(rule.name).second);
    testing::Rng random(seed * 1000 + names.size());
    ExprContext c;
    const auto symbols = testing::declare_assorted_symbols(c);
    Operands operands(random, c, symbols);
    int fired = 0, compared = 0, questions = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto [a, b] = operands.draw(rule.kind);
      const auto result = rule.apply(c, a, b);
      if (!result) continue;
      ++fired;
      CAPTURE(to_string(c, a));
      CAPTURE(to_string(c, b));
      CAPTURE(to_string(c, *result));
      compared += check_by_values(random, c, rule.kind, a, b, *result);
      if (questions == kQuestions || (a.is_constant() && b.is_constant() && questions > 0)) continue;
      ++questions;
      testing::Z3Judge z3(c, kEffort);
      const z3::expr definition = defined(z3, rule.kind, a, b);
      const bool divides = rule.kind == ExprKind::floordiv || rule.kind == ExprKind::mod;
      if (divides) z3.assume(z3.of(b) >= 1);
      const auto verdict = z3.judge(definition == z3.of(*result));
      CAPTURE(z3.model());
      REQUIRE(verdict != testing::Verdict::refuted);
      ++asked;
      unknown += verdict == testing::Verdict::unknown;
    }
    CHECK_MESSAGE(fired > 0, "rule ", rule.name, " never fires");
    CHECK_MESSAGE(compared > 0, "rule ", rule.name, " was never compared with its definition");
    CHECK_MESSAGE(questions > 0, "rule ", rule.name, " was never judged by Z3");
  }
  MESSAGE("Z3 was asked ", asked, " times, undecided ", unknown);
  CHECK(unknown * 4 <= asked);
}

// A judge that cannot say no would make the test above worthless.
TEST_CASE("Z3 refutes a wrong rule") {
  ExprContext c;
  const Expr x = c.declare({"x", SymbolKind::dim, {-8, 8}, {}});
  testing::Z3Judge z3(c, 1'000'000);
  const Expr q = c.floordiv(x, c.constant(3));
  CHECK(z3.judge(z3.of(q) * 3 <= z3.of(x)) == testing::Verdict::valid);
  CHECK(z3.judge(z3.of(q) * 3 == z3.of(x)) == testing::Verdict::refuted);
  CHECK(z3.judge(z3.of(x) != 9) == testing::Verdict::valid);  // by its range
}

namespace {

struct Fixture {
  ExprContext c;
  Expr S = c.declare({"S", SymbolKind::extent, {0, 1 << 20}, {}});
  Expr T = c.declare({"T", SymbolKind::extent, {1, 1 << 20}, {}});
  Expr lo = c.declare({"lo", SymbolKind::dim, {-8, 8}, {}});
  Expr x = c.declare({"x", SymbolKind::dim, {-(1 << 20), 1 << 20}, {}});
  Expr k(Int128 v) { return c.constant(v); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "quotients") {
  CHECK(c.floordiv(k(-7), k(2)) == k(-4));
  CHECK(c.ceildiv(k(-7), k(2)) == k(-3));
  CHECK(c.floordiv(x, k(1)) == x);
  CHECK(c.floordiv(c.add(c.mul(k(8), x), k(7)), k(8)) == x);
  CHECK(c.floordiv(c.add(c.mul(k(8), x), k(9)), k(8)) == c.add(x, k(1)));
  CHECK(c.floordiv(c.mul(x, T), T) == x);
  CHECK(c.floordiv(c.add(c.mul(c.mul(x, T), S), c.mod(lo, T)), T) == c.mul(x, S));
  CHECK(c.floordiv(lo, k(9)) == c.neg(c.floordiv(c.sub(k(8), lo), k(9))));
  CHECK(c.floordiv(c.mod(x, T), T) == k(0));
  CHECK(c.floordiv(c.floordiv(x, k(4)), k(2)) == c.floordiv(x, k(8)));
  CHECK(c.floordiv(c.mul(k(4), x), k(8)) == c.floordiv(x, k(2)));
  CHECK(c.ceildiv(S, k(8)) == c.floordiv(c.add(S, k(7)), k(8)));
  CHECK(c.floordiv(c.sub(T, k(1)), T) == k(0));
}

TEST_CASE_FIXTURE(Fixture, "remainders") {
  CHECK(c.mod(k(-7), k(8)) == k(1));
  CHECK(c.mod(x, k(1)) == k(0));
  CHECK(c.mod(c.add(lo, k(8)), k(17)) == c.add(lo, k(8)));
  CHECK(c.mod(c.add(lo, k(9)), k(17)) != c.add(lo, k(9)));
  CHECK(c.mod(c.add(c.mul(k(16), x), lo), k(8)) == c.mod(lo, k(8)));
  CHECK(c.mod(c.add(c.mul(k(9), x), k(8)), k(8)) == c.mod(x, k(8)));
  CHECK(c.mod(c.mod(x, c.mul(k(3), T)), T) == c.mod(x, T));
  CHECK(c.mod(c.mod(x, T), T) == c.mod(x, T));
  CHECK(c.mod(c.add(x, c.mul(k(2), T)), T) == c.mod(x, T));
  CHECK(c.mod(c.add(x, c.add(c.mul(k(2), T), k(2))), c.add(T, k(1))) == c.mod(x, c.add(T, k(1))));
  CHECK(c.mod(c.sub(c.mul(S, T), k(1)), T) == c.sub(T, k(1)));
  CHECK(c.mod(c.mul(k(4), x), k(8)) == c.mul(k(4), c.mod(x, k(2))));
  CHECK(c.mod(c.sub(c.mod(x, T), T), T) == c.mod(x, T));
}

TEST_CASE_FIXTURE(Fixture, "minima and maxima") {
  CHECK(c.min(x, x) == x);
  CHECK(c.min(x, c.add(x, k(1))) == x);
  CHECK(c.max(c.add(S, T), S) == c.add(S, T));
  CHECK(c.min(c.max(x, S), c.sub(x, k(2))) == c.sub(x, k(2)));
  CHECK(c.max(c.min(x, S), x) == x);
  CHECK(c.min(c.min(x, k(3)), c.min(S, k(5))) == c.min(c.min(S, x), k(3)));
  CHECK(c.max(S, k(-1)) == S);
  CHECK(c.min(lo, k(100)) == lo);
  CHECK(c.max(c.max(x, S), c.max(S, lo)).operands().size() == 3);
  const Expr w = c.declare({"w", SymbolKind::dim, {kInt64Min, kInt64Max}, {}});
  const Expr unknown = c.mul(w, c.mul(w, w)), low = k(-(Int128{1} << 126) - 1);  // an unknown bound is no bound
  CHECK(c.max(low, unknown).kind() == ExprKind::max);
  CHECK(c.min(c.neg(low), unknown).kind() == ExprKind::min);
}

TEST_CASE_FIXTURE(Fixture, "an extent absorbs the indicator of its being positive") {
  const Expr one = k(1);
  CHECK(c.mul(c.min(S, one), S) == S);
  CHECK(c.mul(c.min(S, one), c.mul(S, x)) == c.mul(S, x));
  CHECK(c.mul(c.min(S, one), c.min(S, one)) == c.min(S, one));
  CHECK(c.min(T, one) == one);
  CHECK(c.mul(c.min(x, one), x) != x);
  CHECK(c.mul(c.min(S, one), c.add(S, T)) == c.add(S, c.mul(c.min(S, one), T)));
}

TEST_CASE_FIXTURE(Fixture, "a divisor that is not positive is left to evaluation") {
  const Expr e = c.floordiv(x, k(0)), f = c.mod(x, k(-2));
  const auto divided = evaluate(c, e, std::vector<std::int64_t>{0, 1, 0, 3});
  REQUIRE_FALSE(divided);
  CHECK(divided.error().message == "the divisor of 'x floordiv 0' is 0, and must be positive");
  const auto remainder = evaluate(c, f, std::vector<std::int64_t>{0, 1, 0, 3});
  REQUIRE_FALSE(remainder);
  CHECK(remainder.error().message == "the divisor of 'x mod (-2)' is -2, and must be positive");
}
