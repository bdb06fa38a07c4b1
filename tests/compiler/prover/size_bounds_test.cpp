#include "compiler/schedule/index/size_bounds.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

/// Sizes n in [1, 4], m in [0, 3], lo in [-2, 2]; coordinates c in [0, n), d in [c, c + m]; and one without bounds.
struct Space {
  ir::ExprContext exprs;
  Expr n = exprs.declare({"n", ir::SymbolKind::extent, {1, 4}, {}});
  Expr m = exprs.declare({"m", ir::SymbolKind::extent, {0, 3}, {}});
  Expr lo = exprs.declare({"lo", ir::SymbolKind::dim, {-2, 2}, {}});
  Expr c = exprs.coordinate(0), d = exprs.coordinate(1), unbounded = exprs.coordinate(2);
  SizeBoundsFinder finder{exprs, [this](Expr coordinate) { return bounds_of(coordinate); }};
  SizeBoundsFinder loose{exprs, [this](Expr coordinate) { return bounds_of(coordinate); }, /*tight=*/false};

  Expr k(Int128 value) { return exprs.constant(value); }
  std::optional<SizeBounds> bounds_of(Expr coordinate) {
    if (coordinate == c) return SizeBounds{k(0), exprs.sub(n, k(1))};
    if (coordinate == d) return SizeBounds{c, exprs.add(c, m)};
    return std::nullopt;
  }
};

void check_bounds(Space& space, Expr e, Expr least, Expr most) {
  const auto found = space.finder.of(e);
  REQUIRE(found.has_value());
  CHECK(to_string(space.exprs, found->least) == to_string(space.exprs, least));
  CHECK(to_string(space.exprs, found->most) == to_string(space.exprs, most));
}

/// Brute force over all sizes and coordinates.
class Tally {
 public:
  std::int64_t found = 0, checks = 0, reached = 0;

  /// Returns the point at which an expression leaves its bounds; empty if there is none.
  std::string check(Space& space, SizeBoundsFinder& finder, Expr e) {
    const auto bounds = finder.of(e);
    if (!bounds) return {};
    ++found;
    if (bounds->least.has_coordinate() || bounds->most.has_coordinate()) return "a coordinate in its bounds";
    std::string wrong;
    std::vector<std::int64_t> values(space.exprs.symbol_count(), 0);
    const auto at = [&](Expr symbol) -> std::int64_t& { return values[symbol.symbol()]; };
    for (at(space.n) = 1; at(space.n) <= 4; ++at(space.n))
      for (at(space.m) = 0; at(space.m) <= 3; ++at(space.m))
        for (at(space.lo) = -2; at(space.lo) <= 2; ++at(space.lo)) {
          const auto least = ir::evaluate(space.exprs, bounds->least, values);
          const auto most = ir::evaluate(space.exprs, bounds->most, values);
          if (!least || !most) continue;
          for (at(space.c) = 0; at(space.c) < at(space.n); ++at(space.c))
            for (at(space.d) = at(space.c); at(space.d) <= at(space.c) + at(space.m); ++at(space.d)) {
              const auto value = ir::evaluate(space.exprs, e, values);
              if (!value) continue;
              ++checks;
              reached += *value == *least || *value == *most ? 1 : 0;
              if (*value < *least || *value > *most)
                wrong = fmt::format("{} at {} lies outside {} to {}", padlock::to_string(*value),
                                    fmt::join(values, ", "), padlock::to_string(*least), padlock::to_string(*most));
            }
        }
    return wrong;
  }
};

}  // namespace

TEST_CASE("an expression lies between its bounds over sizes") {
  Space s;
  ir::ExprContext& x = s.exprs;
  check_bounds(s, s.n, s.n, s.n);
  check_bounds(s, s.c, s.k(0), x.sub(s.n, s.k(1)));
  check_bounds(s, s.d, s.k(0), x.add(s.m, x.sub(s.n, s.k(1))));
  check_bounds(s, x.sub(s.lo, s.c), x.add(x.sub(s.lo, s.n), s.k(1)), s.lo);
  check_bounds(s, x.mul(s.lo, s.c), x.min(s.k(0), x.mul(s.lo, x.sub(s.n, s.k(1)))),
               x.max(s.k(0), x.mul(s.lo, x.sub(s.n, s.k(1)))));
  check_bounds(s, x.floordiv(s.d, s.k(3)), s.k(0), x.floordiv(x.add(s.m, x.sub(s.n, s.k(1))), s.k(3)));
  const auto remainder = s.finder.of(x.mod(x.sub(s.c, s.k(1)), s.k(8)));  // of dividends from -1 to n - 2
  REQUIRE(remainder.has_value());
  CHECK(to_string(x, remainder->most) == "7");
}

TEST_CASE("a mirrored coordinate has the bounds of its axis") {
  Space s;
  ir::ExprContext& x = s.exprs;
  const Expr last = x.sub(s.n, s.k(1));
  const Expr period = x.mul(s.k(2), last);
  const Expr wrapped = x.mod(x.sub(s.d, s.lo), x.max(period, s.k(1)));
  const auto found = s.finder.of(x.min(wrapped, x.sub(period, wrapped)));
  REQUIRE(found.has_value());
  CHECK(to_string(x, x.min(found->most, last)) == to_string(x, found->most));  // no larger than the axis' last
}

TEST_CASE("what cannot be bounded over sizes has no bounds") {
  Space s;
  ir::ExprContext& x = s.exprs;
  CHECK_FALSE(s.finder.of(s.unbounded).has_value());
  CHECK_FALSE(s.finder.of(x.add(s.c, s.unbounded)).has_value());
  CHECK_FALSE(s.finder.of(x.mul(s.n, s.unbounded)).has_value());
  CHECK_FALSE(s.finder.of(x.max(s.c, s.unbounded)).has_value());
  CHECK_FALSE(s.finder.of(x.floordiv(s.unbounded, s.n)).has_value());
  check_bounds(s, x.mod(s.unbounded, s.n), s.k(0), x.sub(s.n, s.k(1)));  // a remainder has them whatever is divided
}

TEST_CASE("a divisor may have coordinates: a quotient lies between 0 and its dividend, a remainder below it") {
  Space s;
  ir::ExprContext& x = s.exprs;
  check_bounds(s, x.floordiv(s.n, x.add(s.c, s.k(1))), s.k(0), s.n);
  check_bounds(s, x.mod(s.unbounded, x.add(s.c, s.k(1))), s.k(0), x.sub(s.n, s.k(1)));
}

TEST_CASE("bounds over sizes hold of random expressions") {
  const std::uint64_t seed = testing::seed_or(20261125);
  fmt::print("seed {}\n", seed);
  Space s;
  const std::vector<Expr> symbols = {s.n, s.m, s.lo, s.c, s.d, s.unbounded};
  const std::vector<Expr> bounded(symbols.begin(), symbols.end() - 1);
  const int count = testing::is_full_run() ? 20000 : 1500;
  Tally tally, loose;
  for (int i = 0; i < count; ++i) {
    testing::Rng random = testing::Rng(seed).fork(static_cast<std::uint64_t>(i));
    const auto& drawn = random.chance(90) ? bounded : symbols;
    const Expr e = testing::draw_tree(random, drawn, static_cast<int>(random.between(1, 4))).build(s.exprs, drawn);
    std::string wrong = tally.check(s, s.finder, e);
    if (wrong.empty()) wrong = loose.check(s, s.loose, e);
    REQUIRE_MESSAGE(wrong.empty(), fmt::format("expression {}, {}: {}", i, to_string(s.exprs, e), wrong));
  }
  fmt::print("{} of {} have bounds, reached at {} of {} points\n", tally.found, count, tally.reached, tally.checks);
  CHECK(tally.found * 2 > count);
  CHECK(loose.found == tally.found);
  CHECK(tally.reached * 4 > tally.checks);
}

}  // namespace padlock::compiler
