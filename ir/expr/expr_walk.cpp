// Ranges and substitution: walks over an expression's DAG that visit each node once.

#include <algorithm>

#include "ir/expr/expr_node.h"
#include "ir/expr/expr_order.h"
#include "ir/expr/interval.h"
#include "ir/expr/simplify.h"

namespace padlock::ir {

Range range_over(const ExprContext&, Expr e, std::span<const Range> ranges) {
  const Order order({&e, 1});
  std::vector<Range> results, operands;
  results.reserve(order.nodes.size());
  for (const Expr node : order.nodes) {
    if (node.kind() == ExprKind::symbol) {
      results.push_back(node.symbol() < ranges.size() ? ranges[node.symbol()] : node.range());
      continue;
    }
    operands.clear();
    for (const Expr operand : node.operands()) operands.push_back(results[order.slot(operand)]);
    results.push_back(range_of(node.node(), operands));
  }
  return results.back();
}

Expr ExprContext::substitute_impl(Expr e, Expr (*map)(void*, Expr), void* state) {
  const Order order({&e, 1});
  std::vector<Expr> results, operands;
  results.reserve(order.nodes.size());
  for (const Expr node : order.nodes) {
    operands.clear();
    for (const Expr operand : node.operands()) operands.push_back(results[order.slot(operand)]);
    results.push_back(rebuild(node, operands, map, state));
  }
  return results.back();
}

Expr ExprContext::rebuild(Expr node, std::span<const Expr> operands, Expr (*map)(void*, Expr), void* state) {
  if (node.kind() == ExprKind::symbol) {
    const Expr mapped = map(state, node);
    return mapped.valid() ? mapped : node;
  }
  if (std::ranges::equal(operands, node.operands())) return node;
  if (node.kind() == ExprKind::sum) return Simplifier::sum(*this, node.constant(), operands, node.coefficients());
  if (node.kind() == ExprKind::product) return Simplifier::product(*this, operands);
  Expr result = operands[0];
  for (const Expr next : operands.subspan(1)) {
    switch (node.kind()) {
      case ExprKind::floordiv:
        result = floordiv(result, next);
        break;
      case ExprKind::mod:
        result = mod(result, next);
        break;
      case ExprKind::min:
        result = min(result, next);
        break;
      default:
        result = max(result, next);
        break;
    }
  }
  return result;
}

}  // namespace padlock::ir
