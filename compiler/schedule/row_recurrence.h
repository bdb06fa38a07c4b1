#pragma once

#include <optional>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// How an expression goes on from the value that a coordinate has: with the coordinate k larger, for every k in
/// [0, rows), it is k * step larger.
struct RowRecurrence {
  ir::Expr step;
  /// Over coordinates, at least 1; not valid where it is so for all of them.
  ir::Expr rows = {};

  /// The same step everywhere.
  [[nodiscard]] bool is_even() const { return !rows.valid() && !step.has_coordinate(); }
};

/// Of an expression that is linear in the coordinate piece by piece: sums, multiples, periods and clamps of it, as pads
/// of every mode make them. Nothing for others.
[[nodiscard]] std::optional<RowRecurrence> recurrence_in(ir::ExprContext& exprs, ir::Expr e, ir::Expr coordinate);

}  // namespace padlock::compiler
