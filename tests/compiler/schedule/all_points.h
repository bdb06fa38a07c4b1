#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"

// Checks of maps without sizes, which have so few points that all are tried: who has which position, and where memory
// has it. Each function returns the first mistake, with the point and the position, or nothing.
namespace padlock::compiler {

/// A variable from 0 up to a number.
struct Loop {
  ir::Expr variable;
  std::int64_t count = 0;
};

/// The points of a map: all values of the loops, the last the fastest.
struct Points {
  std::vector<Loop> loops;
  std::vector<std::pair<ir::Expr, ir::Expr>> lets = {};  ///< variables and their values, over loops and earlier lets
  std::vector<ir::Expr> conditions = {};                 ///< points at which one is negative are none
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

/// Every point has a position of the box, and every position has so many points.
[[nodiscard]] std::string check_places(const ir::ExprContext& exprs, const Points& points, const Box& box, Times times);

/// Two expressions, and what they both are.
struct Equation {
  std::string_view what;
  ir::Expr one, other;
};

/// Both sides of each equation have one value at every point.
[[nodiscard]] std::string check_equal(const ir::ExprContext& exprs, const Points& points,
                                      const std::vector<Equation>& equations);

}  // namespace padlock::compiler
