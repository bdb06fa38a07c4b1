#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"

// Exhaustive checks of index maps without sizes, which have few points: which point has which position, and the
// position's place in memory. Each function returns the first mistake, with point and position; empty if there is none.
namespace padlock::compiler {

/// A variable with values from 0 to below a number.
struct Loop {
  ir::Expr variable;
  std::int64_t count = 0;
};

/// The points of a map: all values of the loops; the last varies fastest.
struct Points {
  std::vector<Loop> loops;
  std::vector<std::pair<ir::Expr, ir::Expr>> lets = {};  ///< variables and their values, over loops and earlier lets
  std::vector<ir::Expr> conditions = {};                 ///< a point is left out if one of these is negative
};

/// Positions by coordinates, each with its first value and the end of its values.
struct Box {
  struct Axis {
    ir::Expr coordinate;  ///< over the variables of points
    std::int64_t begin = 0, end = 0;
  };
  std::vector<Axis> axes;
};

enum class Times : std::uint8_t { any, at_most_once, once };

/// Checks that every point has a position in the box, and every position has that many points.
[[nodiscard]] std::string check_places(const ir::ExprContext& exprs, const Points& points, const Box& box, Times times);

/// Two expressions, and a name for what both compute.
struct Equation {
  std::string_view what;
  ir::Expr one, other;
};

/// Checks that both sides of each equation are equal at every point.
[[nodiscard]] std::string check_equal(const ir::ExprContext& exprs, const Points& points,
                                      const std::vector<Equation>& equations);

}  // namespace padlock::compiler
