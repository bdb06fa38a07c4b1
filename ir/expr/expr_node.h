#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/expr/expr.h"

// The node behind an Expr, for the sources that make expressions.
namespace padlock::ir {

struct ExprNode {
  ExprKind kind = ExprKind::constant;
  bool cannot_overflow = true;
  bool has_data = false;
  std::uint32_t symbol = 0;
  std::uint32_t id = 0;
  std::uint32_t depth = 1;
  std::uint64_t coordinates = 0;  // one bit for each coordinate in it: axis modulo 64
  Int128 value = 0;               // a constant, the constant summand of a sum, the axis of a coordinate
  std::vector<Expr> operands;
  std::vector<Int128> coefficients;
  Range range;
  Congruence congruence;
};

[[nodiscard]] std::size_t hash_of(const ExprNode& node);
/// Returns whether two nodes are the same expression: same kind, value, symbol, operands and coefficients.
[[nodiscard]] bool same_structure(const ExprNode& a, const ExprNode& b);
/// Returns the bounds of an inner node from those of its operands. Precondition: not a symbol.
[[nodiscard]] Range range_of(const ExprNode& node, std::span<const Range> operands);
/// Fills in the fields derived from the operands (all but the id). Precondition: not a symbol.
void derive_properties(ExprNode& node);

}  // namespace padlock::ir
