#pragma once

#include <optional>

#include "ir/expr/expr.h"
#include "ir/expr/linear_form.h"

// Division of one expression by another, term by term: what the rules for floordiv and mod have in common.
namespace padlock::ir {

/// a = quotient * b + rest.
struct Division {
  LinearForm quotient, rest;
};

/// Takes multiples of b out of a. Only where something is taken out and the rest cannot overflow by itself.
[[nodiscard]] std::optional<Division> divide(ExprContext& context, Expr a, Expr b);

/// Whether m is shown to be a multiple of b.
[[nodiscard]] bool is_multiple(ExprContext& context, Expr m, Expr b);

/// Whether a form cannot overflow, whatever its symbols.
[[nodiscard]] bool bounded(const LinearForm& form);

}  // namespace padlock::ir
