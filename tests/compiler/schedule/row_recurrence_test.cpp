#include "compiler/schedule/cases/row_recurrence.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/rng.h"

// Facts about an expression that let rows be taken together: compared with the expression's values.
namespace padlock::compiler {
namespace {

using ir::Expr;

struct Sizes {
  ir::ExprContext exprs;
  Expr extent, low, stride, row, plane;

  Sizes()
      : extent(exprs.declare({"H", ir::SymbolKind::extent, {2, 40}, {}})),
        low(exprs.declare({"lo", ir::SymbolKind::extent, {0, 40}, {}})),
        stride(exprs.declare({"s", ir::SymbolKind::extent, {1, 50}, {}})),
        row(exprs.coordinate(1)),
        plane(exprs.coordinate(0)) {}

  std::vector<std::int64_t> values(std::int64_t h, std::int64_t lo, std::int64_t s, std::int64_t at) {
    std::vector<std::int64_t> values(exprs.symbol_count(), 0);
    values[extent.symbol()] = h;
    values[low.symbol()] = lo;
    values[stride.symbol()] = s;
    values[plane.symbol()] = 3;
    values[row.symbol()] = at;
    return values;
  }
  Int128 value(Expr e, const std::vector<std::int64_t>& values) { return ir::evaluate(exprs, e, values).value(); }

  // What a pad along the rows reads, by mode.
  Expr number(std::int64_t n) { return exprs.constant(n); }
  Expr moved() { return exprs.sub(row, low); }
  Expr clamped() { return exprs.min(exprs.max(moved(), number(0)), exprs.sub(extent, number(1))); }
  Expr folded(Expr e, Expr period) {
    const Expr at = exprs.mod(e, period);
    return exprs.min(at, exprs.sub(period, at));
  }
  Expr reflected() { return folded(moved(), exprs.mul(number(2), exprs.sub(extent, number(1)))); }
};

/// Checks the recurrence from `at` on, and returns the rows for which it holds.
Int128 check(Sizes& sizes, Expr e, const RowRecurrence& growth, std::vector<std::int64_t> values) {
  const std::int64_t at = values[sizes.row.symbol()];
  const Int128 here = sizes.value(e, values), step = sizes.value(growth.step, values);
  const Int128 rows = growth.rows.valid() ? sizes.value(growth.rows, values) : 200;
  CHECK(rows >= 1);
  for (std::int64_t k = 0; k < rows && k < 200; ++k) {
    values[sizes.row.symbol()] = at + k;
    if (sizes.value(e, values) == here + k * step) continue;
    FAIL(fmt::format("{}: {} from {} on", to_string(sizes.exprs, e), k, at));
  }
  return rows;
}

}  // namespace

TEST_CASE("pads of every mode are linear by pieces, and the pieces are long") {
  Sizes sizes;
  ir::ExprContext& exprs = sizes.exprs;
  struct Mode {
    Expr index;
    int most_pieces;  // of a row axis with a pad at each end
  };
  const Mode modes[] = {
      {sizes.moved(), 1}, {sizes.clamped(), 5}, {exprs.mod(sizes.moved(), sizes.extent), 3}, {sizes.reflected(), 8}};
  for (const Mode& mode : modes) {
    // As a load has it: the row among planes, by strides.
    const Expr e = exprs.add(exprs.mul(sizes.stride, mode.index), exprs.mul(sizes.number(7), sizes.plane));
    const auto growth = recurrence_in(exprs, e, sizes.row);
    REQUIRE(growth);
    CHECK(growth->is_even() == (mode.most_pieces == 1));
    for (const std::int64_t h : {2, 3, 7, 30})
      for (const std::int64_t lo : {std::int64_t{0}, std::int64_t{1}, h - 1}) {
        int pieces = 0;
        for (std::int64_t at = 0; at < h + 2 * lo; ++pieces) {
          const Int128 rows = check(sizes, e, *growth, sizes.values(h, lo, 5, at));
          at += static_cast<std::int64_t>(std::min<Int128>(rows, h + 2 * lo - at));
        }
        CHECK(pieces <= mode.most_pieces);
      }
  }
}

TEST_CASE("pads of pads, and what is not linear") {
  Sizes sizes;
  ir::ExprContext& exprs = sizes.exprs;
  const Expr twice = exprs.min(exprs.max(exprs.sub(sizes.reflected(), sizes.number(3)), sizes.number(0)), sizes.low);
  const auto growth = recurrence_in(exprs, twice, sizes.row);
  REQUIRE(growth);
  for (std::int64_t at = 0; at < 60; ++at) check(sizes, twice, *growth, sizes.values(11, 4, 1, at));
  CHECK_FALSE(recurrence_in(exprs, exprs.mul(sizes.row, sizes.row), sizes.row));
  CHECK_FALSE(recurrence_in(exprs, exprs.mod(sizes.plane, exprs.max(sizes.row, sizes.number(1))), sizes.row));
  CHECK_FALSE(recurrence_in(exprs, exprs.mod(exprs.mul(sizes.stride, sizes.row), sizes.extent), sizes.row));
  CHECK(recurrence_in(exprs, sizes.plane, sizes.row)->step.is_constant(0));
}

TEST_CASE("random expressions") {
  const std::uint64_t seed = testing::seed_or(20261122);
  MESSAGE("seed ", seed);
  testing::Rng random(seed);
  int found = 0, long_pieces = 0;
  for (int round = 0; round < 3000; ++round) {
    Sizes sizes;
    ir::ExprContext& exprs = sizes.exprs;
    Expr e = sizes.row;
    for (int depth = random.between(1, 4); depth > 0; --depth) {
      const Expr size = random.between(0, 1) == 0 ? sizes.extent : sizes.stride;
      const Expr few = sizes.number(random.between(-6, 6));
      switch (random.between(0, 6)) {
        case 0:
          e = exprs.add(exprs.mul(sizes.number(random.between(-3, 3)), e), few);
          break;
        case 1:
          e = exprs.mod(exprs.add(e, few), size);
          break;
        case 2:
          e = exprs.floordiv(exprs.add(e, few), sizes.number(random.between(1, 5)));
          break;
        case 3:
          e = exprs.min(e, exprs.add(size, few));
          break;
        case 4:
          e = exprs.max(exprs.sub(size, e), few);
          break;
        case 5:
          e = exprs.min(e, exprs.sub(few, e));
          break;
        default:
          e = exprs.max(exprs.mul(size, e), exprs.add(sizes.low, e));
          break;
      }
    }
    const auto growth = recurrence_in(exprs, e, sizes.row);
    if (!growth) continue;
    ++found;
    for (int point = 0; point < 4; ++point)
      long_pieces += check(sizes, e, *growth,
                           sizes.values(random.between(2, 40), random.between(0, 40), random.between(1, 50),
                                        random.between(0, 60))) > 2;
  }
  CHECK(found > 1500);
  CHECK(long_pieces > 3000);
}

}  // namespace padlock::compiler
