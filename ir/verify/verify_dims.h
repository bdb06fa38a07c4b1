#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/verify/verify_symbols.h"

// The second part of verification: makes interned expressions from those written in the text. Internal to the verifier.
namespace padlock::ir {

/// Builds expressions in one context, in which the table's symbols have the table's indices.
class DimBuilder {
 public:
  /// Returns whether a divisor is positive for every binding.
  using Positive = std::function<bool(Expr)>;

  /// Borrows all arguments, which outlive the builder.
  DimBuilder(ExprContext& context, const NameTable& names, const Diagnostics& diagnostics)
      : context_(&context), names_(&names), diagnostics_(&diagnostics) {}

  /// Builds the expression. Divisors are checked as written, before simplification can remove them. Errors, at their
  /// position: an unknown symbol, a divisor that is not positive, an expression beyond the limits of depth, operands,
  /// or verification's steps.
  [[nodiscard]] Result<Expr> build(const syntax::Dim& dim, const Positive& positive) const;
  /// Lists every name in the expression that is no symbol. Returns a consequence if there is one.
  [[nodiscard]] Status check_names(const syntax::Dim& dim) const;

 private:
  /// expr + sum of coefficients[i] * terms[i]; these terms are still to be added.
  struct Operand {
    Expr expr;
    Location where;
    std::vector<Expr> terms = {};
    std::vector<Int128> coefficients = {};
  };
  Status complete(Operand& operand, Location where) const;
  Status check_size(Expr e, Location where) const;
  Result<Expr> symbol(const syntax::DimNode& node) const;
  Result<Expr> apply(const syntax::DimNode& node, std::span<const Operand> operands, const Positive& positive) const;
  Status check_divisor(const Operand& divisor, const Positive& positive) const;

  ExprContext* context_;
  const NameTable* names_;
  const Diagnostics* diagnostics_;
};

}  // namespace padlock::ir
