#pragma once

#include <optional>

#include "ir/expr/expr.h"

namespace padlock::ir {

/// `slope * coordinate + rest`, with a literal slope and a rest free of coordinates.
struct Affine {
  Int128 slope = 0;
  Expr rest;
};

/// The affine form of an expression in the only coordinate that occurs in it (slope 0 where none does). Nothing where
/// it is not affine, or another coordinate occurs.
[[nodiscard]] std::optional<Affine> affine_in(ExprContext& exprs, Expr e, Expr coordinate);

/// Whether `coordinate` occurs in the expression. Linear in the DAG.
[[nodiscard]] bool mentions(Expr e, Expr coordinate);

}  // namespace padlock::ir
