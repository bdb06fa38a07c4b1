#pragma once

#include <optional>

#include "ir/expr/expr.h"

namespace padlock::ir {

/// `slope * coordinate + rest`, with a literal slope and a rest free of coordinates.
struct Affine {
  Int128 slope = 0;
  Expr rest;
};

/// Returns the affine form of an expression in the only coordinate that occurs in it (slope 0 if none does); nullopt if
/// it is not affine, or another coordinate occurs.
[[nodiscard]] std::optional<Affine> affine_in(ExprContext& exprs, Expr e, Expr coordinate);

/// As affine_in, but other coordinates may occur in the rest.
[[nodiscard]] std::optional<Affine> linear_in(ExprContext& exprs, Expr e, Expr coordinate);

/// Returns whether `coordinate` occurs in the expression. Cost: linear in the DAG.
[[nodiscard]] bool mentions(Expr e, Expr coordinate);

}  // namespace padlock::ir
