#include "tests/compiler/schedule/all_points.h"

#include <doctest/doctest.h>

// Tests the check of all points with a box of three axes: it finds missing positions, double ones, and ones outside.
namespace padlock::compiler {
namespace {

using ir::Expr;

struct Cube {
  ir::ExprContext exprs;
  Expr number = exprs.variable("number", 10), half = exprs.variable("half", 11), left = exprs.variable("left", 12);
  /// Two halves of 12 numbers.
  Points points{.loops = {{half, 2}, {number, 12}}, .lets = {{left, exprs.add(number, exprs.mul(constant(12), half))}}};
  /// Of 4 x 3 x 2 positions, from 0, 0 and 5 on.
  Box box{{{exprs.floordiv(left, constant(6)), 0, 4},
           {exprs.mod(exprs.floordiv(left, constant(2)), constant(3)), 0, 3},
           {exprs.add(exprs.mod(left, constant(2)), constant(5)), 5, 7}}};

  Expr constant(int value) { return exprs.constant(value); }
  std::string check(Times times) { return check_places(exprs, points, box, times); }
};

}  // namespace

TEST_CASE("all points: each position is at one of them") {
  Cube cube;
  CHECK(cube.check(Times::once) == "");
  CHECK(check_equal(cube.exprs, cube.points,
                    {{"left", cube.left, cube.exprs.add(cube.number, cube.exprs.mul(cube.constant(12), cube.half))}}) ==
        "");
}

TEST_CASE("all points: a position that is missing, that is there twice, and one outside") {
  Cube missing;
  missing.points.conditions = {missing.exprs.sub(missing.constant(17), missing.left)};
  CHECK(missing.check(Times::once) == "(3, 0, 5) is at no point");
  CHECK(missing.check(Times::at_most_once) == "");
  Cube twice;
  twice.points.lets.front().second = twice.number;
  CHECK(twice.check(Times::at_most_once) ==
        "(0, 0, 5) is at $half = 0, $number = 0, $left = 0 and at $half = 1, $number = 0, $left = 0");
  CHECK(twice.check(Times::any) == "");
  Cube outside;
  outside.points.loops.back().count = 13;
  CHECK(outside.check(Times::any) == "(4, 0, 5) at $half = 1, $number = 12, $left = 24 lies outside");
}

TEST_CASE("all points: expressions that differ somewhere") {
  Cube cube;
  const Expr capped = cube.exprs.min(cube.left, cube.constant(20));
  CHECK(check_equal(cube.exprs, cube.points, {{"number", cube.number, cube.number}, {"left", capped, cube.left}}) ==
        "left is 20 or 21 at $half = 1, $number = 9, $left = 21");
}

}  // namespace padlock::compiler
