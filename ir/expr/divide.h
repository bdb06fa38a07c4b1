#pragma once

#include <optional>

#include "ir/expr/expr.h"
#include "ir/expr/linear_form.h"

// Division of one expression by another, term by term, shared by the rules for floordiv and mod.
namespace padlock::ir {

/// The result of a division: a = quotient * b + rest.
struct Division {
  LinearForm quotient, rest;
};

/// Subtracts multiples of b from a; nullopt unless some are subtracted and the rest cannot overflow by itself.
[[nodiscard]] std::optional<Division> divide(ExprContext& context, Expr a, Expr b);

/// Returns whether m is shown to be a multiple of b.
[[nodiscard]] bool is_multiple(ExprContext& context, Expr m, Expr b);

/// Returns whether a form cannot overflow, whatever its symbols.
[[nodiscard]] bool bounded(const LinearForm& form);

}  // namespace padlock::ir
