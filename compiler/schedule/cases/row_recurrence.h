#pragma once

#include <optional>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// An add recurrence of an expression in a coordinate, from the coordinate's value on: if the coordinate grows by k,
/// the expression grows by k * step, for every k in [0, rows).
struct RowRecurrence {
  ir::Expr step;
  /// Expression over coordinates, at least 1; not valid if the recurrence holds for every k.
  ir::Expr rows = {};

  /// Returns whether the step is the same everywhere.
  [[nodiscard]] bool is_even() const { return !rows.valid() && !step.has_coordinate(); }
};

/// Returns the recurrence of an expression that is piecewise linear in the coordinate: sums, multiples, periods and
/// clamps, as pads of every mode make them. Nothing for other expressions, nor for those with data.
[[nodiscard]] std::optional<RowRecurrence> recurrence_in(ir::ExprContext& exprs, ir::Expr e, ir::Expr coordinate);

}  // namespace padlock::compiler
