#include "ir/expr/expr.h"

#include <array>

#include <doctest/doctest.h>

#include "ir/expr/expr_tape.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

/// Symbols as a program's defaults declare them.
struct Fixture {
  ExprContext c;
  Expr B = extent("B"), S = extent("S"), T = extent("T");
  Expr lo = c.declare({"lo", SymbolKind::dim, {-(Int128{1} << 40), Int128{1} << 40}, {}});
  Expr D = c.declare({"D", SymbolKind::dim, {1, 1 << 20}, {}});
  Expr W = c.declare({"W", SymbolKind::dim, {kInt64Min, kInt64Max}, {}});

  Expr extent(std::string name) { return c.declare({std::move(name), SymbolKind::extent, {0, Int128{1} << 40}, {}}); }
  Expr k(Int128 value) { return c.constant(value); }
  std::string text(Expr e) const { return to_string(c, e); }
  // B, S, T, lo, D, W
  Result<std::int64_t> value(Expr e, std::array<std::int64_t, 6> values) const { return evaluate_int64(c, e, values); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "equal polynomials are one handle") {
  CHECK(c.sub(c.add(S, k(1)), k(1)) == S);
  CHECK(c.add(S, T) == c.add(T, S));
  CHECK(c.sub(S, S) == k(0));
  CHECK(c.add(S, S) == c.mul(k(2), S));
  CHECK(c.mul(c.add(S, T), D) == c.add(c.mul(D, S), c.mul(T, D)));
  CHECK(c.mul(c.add(S, k(1)), c.sub(S, k(1))) == c.sub(c.mul(S, S), k(1)));
  CHECK(c.mul(S, k(0)) == k(0));
  CHECK(c.neg(c.neg(c.add(S, lo))) == c.add(S, lo));
  CHECK(c.add(c.mul(S, T), c.neg(c.mul(T, S))) == k(0));
  CHECK(c.add(c.add(lo, S), c.neg(lo)) == S);
  CHECK_FALSE(c.add(S, k(1)) == c.add(S, k(2)));
  CHECK_FALSE(c.mul(S, S) == S);
}

TEST_CASE_FIXTURE(Fixture, "text reads naturally and follows the grammar") {
  CHECK(text(c.add(lo, S)) == "S + lo");
  CHECK(text(c.sub(c.mul(k(2), S), k(3))) == "2*S - 3");
  CHECK(text(c.neg(c.add(S, lo))) == "-S - lo");
  CHECK(text(c.mul(S, c.mul(k(-2), B))) == "-2*B*S");
  CHECK(text(c.mod(c.neg(c.add(S, lo)), k(8))) == "(-S - lo) mod 8");
  CHECK(text(c.neg(c.mod(S, k(8)))) == "-(S mod 8)");
  CHECK(text(c.sub(B, c.mod(S, k(8)))) == "B - S mod 8");
  CHECK(text(c.mul(k(2), c.mod(S, k(8)))) == "2*(S mod 8)");
  CHECK(text(c.mul(T, c.floordiv(S, D))) == "T*(S floordiv D)");
  CHECK(text(c.floordiv(c.mul(S, T), D)) == "(S*T) floordiv D");
  CHECK(text(c.mod(c.mod(S, D), k(8))) == "(S mod D) mod 8");
  CHECK(text(c.max(c.sub(S, k(1)), k(0))) == "max(S - 1, 0)");
  CHECK(text(c.min(c.min(T, k(8)), S)) == "min(S, T, 8)");
  CHECK(text(c.ceildiv(S, k(8))) == "(S + 7) floordiv 8");
  CHECK(text(k(kInt64Min)) == "-9223372036854775808");
  CHECK(text(k(Int128{1} << 100)) == "1267650600228229401496703205376");
}

TEST_CASE_FIXTURE(Fixture, "a product that may overflow stays a product, whose text gives it back") {
  Expr H = extent("H");
  const Expr e = c.mul(c.mul(c.mul(c.sub(B, k(1)), S), T), H);
  CHECK(text(e) == "S*T*H*(B - 1)");
  CHECK(c.mul(c.mul(c.mul(S, T), H), c.sub(B, k(1))) == e);
  CHECK(c.sub(e, e) == k(0));
  CHECK(text(c.mul(k(3), e)) == "3*(S*T*H*(B - 1))");
  const std::array<std::int64_t, 7> values = {1, std::int64_t{1} << 40, std::int64_t{1} << 40, 0, 1,
                                              0, std::int64_t{1} << 40};
  CHECK(evaluate(c, e, values) == Int128{0});
}

TEST_CASE_FIXTURE(Fixture, "text beyond the limit is cut") {
  CHECK(to_string(c, c.add(S, T), 5) == "S + T");
  CHECK(to_string(c, c.add(S, T), 4) == "S...");
  Expr e = S;
  for (int i = 0; i < 200; ++i) e = c.max(c.floordiv(c.mul(e, e), D), c.sub(T, e));  // 2^200 paths
  CHECK(to_string(c, e, 100).size() == 100);
  CHECK(to_string(c, e).ends_with("..."));
}

TEST_CASE_FIXTURE(Fixture, "sharing costs its nodes, not its paths") {
  Expr doubled = S;
  for (int i = 0; i < 40; ++i) doubled = c.add(doubled, doubled);
  CHECK(text(doubled) == "1099511627776*S");
  Expr e = W;
  for (int i = 0; i < 500; ++i) e = c.add(c.mod(c.mul(e, e), k(1009)), c.min(e, T));
  const std::array<std::int64_t, 6> values = {1, 2, 3, 4, 5, 6};
  const auto plain = [](Int128 v) {
    for (int i = 0; i < 500; ++i) v = floor_mod<Int128>(v * v, 1009) + std::min<Int128>(v, 3);
    return v;
  };
  CHECK(evaluate(c, e, values) == plain(6));
  const Expr moved = c.substitute(e, [&](Expr s) { return s == W ? k(11) : Expr(); });
  CHECK(evaluate(c, moved, values) == plain(11));
  const ExprTape tape(c, {e, moved});
  std::array<std::int64_t, 2> out{};
  REQUIRE(tape.evaluate(values, out));
  CHECK(out[0] == static_cast<std::int64_t>(plain(6)));
  CHECK(out[1] == static_cast<std::int64_t>(plain(11)));
}

TEST_CASE_FIXTURE(Fixture, "deep expressions are walked safely") {
  Expr e = W;
  for (int i = 0; i < 1000; ++i) e = c.add(c.max(c.mod(e, D), lo), k(1));
  CHECK(e.depth() > 2000);
  CHECK(text(e).ends_with("..."));
  CHECK(c.add(e, k(1)).depth() == e.depth());
  CHECK(structural_order(e, c.add(e, T)) != 0);
}

TEST_CASE_FIXTURE(Fixture, "large sums and minima stay affordable") {
  Expr sum = S, least = S;
  for (int i = 0; i < 1000; ++i) {
    const Expr x = c.declare({"x" + std::to_string(i), SymbolKind::dim, {0, 1 << 20}, {}});
    sum = c.add(sum, x);
    least = c.min(least, x);
  }
  CHECK(sum.operands().size() == 1001);
  CHECK(least.operands().size() == 1001);
  CHECK(c.min(least, S) == least);
}

TEST_CASE_FIXTURE(Fixture, "evaluation is checked and names the expression") {
  CHECK(value(c.mod(c.neg(S), k(8)), {0, 5, 0, 0, 1, 0}) == 3);
  CHECK(value(c.floordiv(lo, k(2)), {0, 0, 0, -3, 1, 0}) == -2);
  const Expr cube = c.mul(W, c.mul(W, W));
  const auto overflow = value(cube, {0, 0, 0, 0, 1, kInt64Max});
  REQUIRE_FALSE(overflow);
  CHECK(overflow.error().code == Code::invalid_argument);
  CHECK(overflow.error().message == "'W*W*W' overflows 128 bits");
  const auto inner = value(c.add(cube, c.min(c.mul(S, cube), k(1))), {0, 1, 0, 0, 1, kInt64Max});
  REQUIRE_FALSE(inner);
  CHECK(inner.error().message == "'W*W*W' overflows 128 bits, in 'W*W*W + min(S*W*W*W, 1)'");
  const auto wide = value(c.mul(W, W), {0, 0, 0, 0, 1, kInt64Max});
  REQUIRE_FALSE(wide);
  CHECK(wide.error().message == "'W*W' is 85070591730234615847396907784232501249, which does not fit 64 bits");
  const auto divisor = value(c.floordiv(S, c.max(lo, T)), {0, 7, 0, -3, 1, 0});
  REQUIRE_FALSE(divisor);
  CHECK(divisor.error().message == "the divisor of 'S floordiv max(T, lo)' is 0, and must be positive");
  const auto missing = evaluate(c, W, std::array<std::int64_t, 2>{1, 2});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "symbol 'W' has no value");
}

TEST_CASE_FIXTURE(Fixture, "a product with a zero factor is 0 whatever the others are") {
  const Expr huge = c.mod(c.mul(c.mul(W, W), W), D);
  CHECK(value(c.mul(S, huge), {0, 0, 0, 0, 7, kInt64Max}) == 0);
  CHECK_FALSE(value(c.mul(S, huge), {0, 1, 0, 0, 7, kInt64Max}));
}

TEST_CASE_FIXTURE(Fixture, "only the value of a sum must fit, not its partial sums") {
  const Expr product = c.mul(W, W);  // up to 2^126
  const Expr e = c.sub(c.add(c.add(product, c.mul(k(2), product)), S), c.mul(k(3), c.mul(W, c.add(W, k(0)))));
  CHECK(e == S);
  Expr V = c.declare({"V", SymbolKind::dim, {kInt64Min, kInt64Max}, {}});
  const Expr difference = c.sub(c.mul(k(5), product), c.mul(k(5), c.mul(W, V)));
  const std::array<std::int64_t, 7> values = {0, 0, 0, 0, 1, kInt64Max, kInt64Max};
  CHECK(evaluate(c, difference, values) == Int128{0});
}

TEST_CASE_FIXTURE(Fixture, "ranges and congruences follow the expression") {
  CHECK(S.range() == Range{0, Int128{1} << 40});
  CHECK(c.sub(k(10), D).range() == Range{10 - (1 << 20), 9});
  CHECK(c.mul(lo, lo).range() == Range{0, Int128{1} << 80});
  CHECK(c.mod(S, D).range() == Range{0, (1 << 20) - 1});
  CHECK(c.mul(c.mul(W, W), W).range() == Range{});
  CHECK(c.mul(c.mul(W, W), W).range().bounded() == false);
  CHECK(c.add(c.mul(k(8), S), k(3)).congruence() == Congruence{8, 3});
  CHECK(c.mod(c.add(c.mul(k(8), S), k(3)), k(8)) == k(3));
  CHECK(c.mul(c.mul(k(4), S), c.add(c.mul(k(2), T), k(1))).congruence() == Congruence{4, 0});
  const std::array<Range, 6> narrow = {Range{1, 1}, Range{2, 5}, Range{0, 3}, Range{-1, 1}, Range{4, 4}, Range{}};
  CHECK(range_over(c, c.sub(S, c.mul(k(2), T)), narrow) == Range{-4, 5});
  CHECK(range_over(c, c.floordiv(c.add(S, lo), D), narrow) == Range{0, 1});
}

TEST_CASE("order and text do not depend on the order of creation") {
  const auto make = [](bool reversed) {
    ExprContext c;
    const Expr S = c.declare({"S", SymbolKind::extent, {0, 100}, {}});
    const Expr T = c.declare({"T", SymbolKind::extent, {1, 100}, {}});
    if (reversed) (void)c.coordinate(1), (void)c.max(c.mod(T, c.constant(3)), c.mul(S, T)), (void)c.coordinate(0);
    Expr e = c.add(c.floordiv(S, T), c.mul(c.coordinate(0), T));
    e = c.max(c.add(e, c.coordinate(1)), c.mul(S, c.min(T, c.mod(S, c.constant(3)))));
    return to_string(c, e);
  };
  CHECK(make(false) == make(true));
  CHECK(make(false) == "max(S*min(T, S mod 3), $1 + T*$0 + S floordiv T)");
}

TEST_CASE("coordinates are made once and known as such") {
  ExprContext c;
  const Expr x = c.coordinate(0);
  CHECK(c.coordinate(0) == x);
  CHECK(x.has_coordinate());
  CHECK(c.add(x, c.constant(1)).has_coordinate());
  CHECK(c.symbol(x.symbol()).kind == SymbolKind::coordinate);
  CHECK(c.find_symbol("$0") == x);
  CHECK_FALSE(c.find_symbol("$1"));
}

// Simplifying may remove an overflow and never adds one: wherever the tree as written has a value, the expression has
// the same. On the way: ranges, congruences, tapes and substitution agree with the value.
TEST_CASE("random expressions keep the value of what was written") {
  const std::uint64_t seed = testing::seed_or(20260101);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  int compared = 0, overflowed = 0, removed = 0;
  for (int round = 0; round < 60; ++round) {
    ExprContext c;
    const std::vector<Expr> symbols = testing::declare_assorted_symbols(c);
    for (int i = 0; i < 60; ++i) {
      const testing::Tree tree = testing::draw_tree(random, symbols, static_cast<int>(random.between(1, 6)));
      const Expr e = tree.build(c, symbols);
      const ExprTape tape(c, {e});
      for (int draw = 0; draw < 8; ++draw) {
        const auto values = testing::draw_values(random, c);
        const auto expected = tree.evaluate(values);
        const auto actual = evaluate(c, e, values);
        if (!expected) {
          ++overflowed;
          removed += actual.has_value();
          if (e.cannot_overflow()) CHECK(actual.has_value());
          continue;
        }
        ++compared;
        CAPTURE(seed);
        CAPTURE(tree.text());
        CAPTURE(to_string(c, e));
        REQUIRE(actual.has_value());
        REQUIRE(to_string(*actual) == to_string(*expected));
        if (e.range().bounded()) REQUIRE(e.range().contains(*actual));
        if (e.congruence().modulus > 0)
          REQUIRE(floor_mod<Int128>(*actual, e.congruence().modulus) == e.congruence().residue);
        std::int64_t out = 0;
        const bool fits = tape.evaluate(values, {&out, 1}).has_value();
        REQUIRE(fits == fits_int64(*expected));
        if (fits) REQUIRE(out == static_cast<std::int64_t>(*expected));
        const Expr folded = c.substitute(e, [&](Expr s) { return c.constant(values[s.symbol()]); });
        const auto constant = evaluate(c, folded, values);
        REQUIRE(constant.has_value());
        REQUIRE(to_string(*constant) == to_string(*expected));
      }
    }
  }
  MESSAGE("compared ", compared, ", overflowed ", overflowed, ", of which removed ", removed);
  CHECK(compared > 5000);
  CHECK(overflowed > 100);
}
