#pragma once

#include <optional>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"

// The columns of a row: those in which a condition holds, and how a load moves from one to the next. Columns are the
// coordinates of the last axis, or of the last two axes together: of those from `column_axis` on.
namespace padlock::compiler {

/// A condition on the column of a row: slope * column + rest >= 0; or rest == 0 for slope 0 and an equality.
struct ColumnCondition {
  int slope = 0;  ///< -1, 0 or 1
  ir::Expr rest;  ///< over the coordinates of rows
};
/// Returns a condition in this form; nothing if it does not have it.
[[nodiscard]] std::optional<ColumnCondition> column_condition(const Kernel& kernel, int column_axis,
                                                              const Condition& condition);
/// Returns how many columns share a coordinate of their first axis.
[[nodiscard]] ir::Expr column_unit(const Kernel& kernel, int column_axis);
/// Returns the value of an expression at column 0 of a row.
[[nodiscard]] ir::Expr at_first_column(const Kernel& kernel, int column_axis, ir::Expr e);

/// The element that a load reads, as a part that the row decides and a part that the column decides, along the last
/// axis.
struct SplitByColumn {
  ir::Expr at_first;  ///< its value at column 0
  ir::Expr moved;     ///< what a column adds, over the last coordinate and symbols
  ir::Expr step;      ///< what each column adds to the one before, over symbols; invalid if columns differ in it
};
/// Returns the element in this form; nothing if it does not have it.
[[nodiscard]] std::optional<SplitByColumn> split_by_column(const Kernel& kernel, const LoadSource& source);

}  // namespace padlock::compiler
