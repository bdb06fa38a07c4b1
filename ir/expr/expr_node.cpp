#include "ir/expr/expr_node.h"

#include <algorithm>

#include "ir/expr/congruence.h"
#include "ir/expr/interval.h"

namespace padlock::ir {

namespace {

void mix(std::size_t& hash, Int128 value) {
  const auto bits = static_cast<UInt128>(value);
  for (const auto word : {static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)})
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

Range sum_range(const ExprNode& node, std::span<const Range> operands) {
  Range r{saturate(node.value), saturate(node.value)};
  for (std::size_t i = 0; i < operands.size(); ++i) r = r + node.coefficients[i] * operands[i];
  return r;
}

// Factors are sorted, so equal factors are adjacent. Pairs of them are squares, which are never negative.
Range product_range(const ExprNode& node, std::span<const Range> operands) {
  Range r{1, 1};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool pair = i + 1 < operands.size() && node.operands[i] == node.operands[i + 1];
    r = r * (pair ? square(operands[i]) : operands[i]);
    if (pair) ++i;
  }
  return r;
}

Congruence congruence_of(const ExprNode& node) {
  const auto& ops = node.operands;
  Congruence c = ir::congruence_of(node.kind == ExprKind::product ? 1 : node.value);
  switch (node.kind) {
    case ExprKind::constant:
    case ExprKind::symbol:
      return c;
    case ExprKind::sum:
      for (std::size_t i = 0; i < ops.size(); ++i)
        c = c + ir::congruence_of(node.coefficients[i]) * ops[i].congruence();
      return c;
    case ExprKind::product:
      for (const Expr e : ops) c = c * e.congruence();
      return c;
    case ExprKind::floordiv:
      return floordiv(ops[0].congruence(), ops[1].congruence());
    case ExprKind::mod:
      return mod(ops[0].congruence(), ops[1].congruence());
    case ExprKind::min:
    case ExprKind::max:
      c = ops[0].congruence();
      for (const Expr e : ops) c = join(c, e.congruence());
      return c;
  }
  return {};
}

}  // namespace

std::size_t hash_of(const ExprNode& node) {
  std::size_t hash = static_cast<std::size_t>(node.kind) + 1;
  mix(hash, node.value);
  mix(hash, node.symbol);
  for (const Expr e : node.operands) mix(hash, e.id());
  for (const Int128 c : node.coefficients) mix(hash, c);
  return hash;
}

bool same_structure(const ExprNode& a, const ExprNode& b) {
  return a.kind == b.kind && a.value == b.value && a.symbol == b.symbol && a.operands == b.operands &&
         a.coefficients == b.coefficients;
}

Range range_of(const ExprNode& node, std::span<const Range> operands) {
  Range r{saturate(node.value), saturate(node.value)};
  switch (node.kind) {
    case ExprKind::constant:
    case ExprKind::symbol:
      return r;
    case ExprKind::sum:
      return sum_range(node, operands);
    case ExprKind::product:
      return product_range(node, operands);
    case ExprKind::floordiv:
      return floordiv(operands[0], operands[1]);
    case ExprKind::mod:
      return mod(operands[0], operands[1]);
    case ExprKind::min:
    case ExprKind::max:
      r = operands[0];
      for (const Range& o : operands) r = node.kind == ExprKind::min ? min(r, o) : max(r, o);
      return r;
  }
  return {};
}

void derive_properties(ExprNode& node) {
  std::vector<Range> ranges;
  ranges.reserve(node.operands.size());
  for (const Expr e : node.operands) {
    ranges.push_back(e.range());
    node.depth = std::max(node.depth, e.depth() + 1);
    node.coordinates |= e.node().coordinates;
    node.cannot_overflow &= e.cannot_overflow();
    node.has_data |= e.has_data();
  }
  node.congruence = congruence_of(node);
  node.range = tighten(range_of(node, ranges), node.congruence);
  // Quotients, remainders, minima and maxima are no larger than an operand. Of a sum only the value must fit. A product
  // without a zero factor is at least as large as its partial products.
  if (node.kind == ExprKind::sum || node.kind == ExprKind::product) node.cannot_overflow &= node.range.bounded();
}

}  // namespace padlock::ir
