#pragma once

#include <optional>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// An add recurrence of an expression in a coordinate, from the coordinate's value on: with the coordinate k larger,
/// for every k in [0, rows), the expression is k * step larger.
struct RowRecurrence {
  ir::Expr step;
  /// An expression over coordinates, at least 1; not valid where the recurrence holds for every k.
  ir::Expr rows = {};

  /// Returns whether the step is the same everywhere.
  [[nodiscard]] bool is_even() const { return !rows.valid() && !step.has_coordinate(); }
};

/// Returns the recurrence of an expression that is piecewise linear in the coordinate: sums, multiples, periods and
/// clamps of it, as pads of every mode make them. Nothing for others, nor where data is in it.
[[nodiscard]] std::optional<RowRecurrence> recurrence_in(ir::ExprContext& exprs, ir::Expr e, ir::Expr coordinate);

}  // namespace padlock::compiler
