#include "ir/verify/verify_dims.h"

#include <fmt/format.h>

#include "ir/expr/simplify.h"
#include "ir/program.h"
#include "support/limits.h"

namespace padlock::ir {

using syntax::DimNode;

namespace {

std::string_view noun_of_operands(ExprKind kind) {
  return kind == ExprKind::sum ? "terms" : kind == ExprKind::product ? "factors" : "operands";
}

}  // namespace

Result<Expr> DimBuilder::build(const syntax::Dim& dim, const Positive& positive) const {
  if (dim.nodes.size() > 3 * limits::kOperators)
    return diagnostics_->too_large(dim.where(),
                                   fmt::format("expected at most {} operators in an expression", limits::kOperators));
  std::vector<Operand> stack;
  for (const DimNode& node : dim.nodes) {
    if (node.operands > stack.size()) return internal_error("an expression whose operator lacks an operand");
    const auto operands = std::span<Operand>(stack).last(node.operands);
    const bool adds = node.kind == DimNode::Kind::add || node.kind == DimNode::Kind::sub;
    for (std::size_t i = adds ? 1 : 0; i < operands.size(); ++i) PADLOCK_CHECK(complete(operands[i], dim.where()));
    if (adds && operands.size() == 2) {
      operands[0].terms.push_back(operands[1].expr);
      operands[0].coefficients.push_back(node.kind == DimNode::Kind::add ? 1 : -1);
      operands[0].where = node.where;
      stack.pop_back();
      continue;
    }
    PADLOCK_TRY(const Expr result, apply(node, operands, positive));
    PADLOCK_CHECK(check_size(result, dim.where()));
    stack.resize(stack.size() - node.operands);
    stack.push_back({.expr = result, .where = node.where});
  }
  if (stack.size() != 1) return internal_error("an expression that is not one value");
  PADLOCK_CHECK(complete(stack.back(), dim.where()));
  return stack.back().expr;
}

/// Adds up a row of plus and minus signs at once; one by one it would take the square of the row's length.
Status DimBuilder::complete(Operand& operand, Location where) const {
  if (operand.terms.empty()) return {};
  operand.terms.insert(operand.terms.begin(), operand.expr);
  operand.coefficients.insert(operand.coefficients.begin(), 1);
  operand.expr = Simplifier::sum(*context_, 0, operand.terms, operand.coefficients);
  operand.terms.clear();
  operand.coefficients.clear();
  return check_size(operand.expr, where);
}

/// Counts the steps of later passes over an expression: its number of operands, or the square of it.
Status DimBuilder::check_size(Expr e, Location where) const {
  if (e.depth() > limits::kExprDepth)
    return diagnostics_->too_large(where,
                                   fmt::format("expected an expression at most {} operators deep", limits::kExprDepth));
  if (e.operands().size() > limits::kOperands)
    return diagnostics_->too_large(
        where, fmt::format("expected an expression whose normal form has at most {} {}, found {}", limits::kOperands,
                           noun_of_operands(e.kind()), e.operands().size()));
  return diagnostics_->check_steps(where);
}

Status DimBuilder::check_names(const syntax::Dim& dim) const {
  Status every;
  for (const DimNode& node : dim.nodes)
    if (node.kind == DimNode::Kind::name) diagnostics_->collect(every, symbol(node));
  return every;
}

Result<Expr> DimBuilder::symbol(const DimNode& node) const {
  const NameTable::Kind kind = names_->kind_of(node.name);
  if (kind == NameTable::Kind::unknown && diagnostics_->is_excused(node.name)) return ErrorList::consequence();
  if (kind == NameTable::Kind::unknown) {
    const std::string hint = names_->symbol_hint(node.name);
    return diagnostics_->unknown_name(
        node.name, node.where,
        fmt::format("expected a symbol, found the unknown name '{}'{}", node.name,
                    !hint.empty() ? hint
                                  : " (a symbol is declared by standing alone as an extent or stride of a tensor "
                                    "parameter, or as a dim parameter)"));
  }
  const auto found = kind == NameTable::Kind::symbol ? context_->find_symbol(node.name) : std::nullopt;
  if (!found)
    return diagnostics_->error(node.where,
                               fmt::format("expected a symbol, found {}{}", names_->describe(node.name),
                                           kind == NameTable::Kind::scalar
                                               ? fmt::format("; a number in sizes is declared as '{}: dim'", node.name)
                                               : std::string()));
  return *found;
}

Status DimBuilder::check_divisor(const Operand& divisor, const Positive& positive) const {
  if (positive(divisor.expr)) return {};
  const std::string text = brief(*context_, divisor.expr);
  const std::string hint = divisor.expr.is_constant()
                               ? ""
                               : fmt::format("; a constraint such as {} >= 1, stated before its use, would do", text);
  const std::string message = fmt::format("expected a divisor that is provably positive, found {}{}", text, hint);
  // No constraint can make a constant divisor positive, so it is an error even while constraints are in doubt.
  return divisor.expr.is_constant() ? diagnostics_->error(divisor.where, message)
                                    : diagnostics_->not_shown(divisor.where, message);
}

Result<Expr> DimBuilder::apply(const DimNode& node, std::span<const Operand> operands, const Positive& positive) const {
  using Kind = DimNode::Kind;
  const std::size_t arity = operands.size();
  const bool nary = node.kind == Kind::min || node.kind == Kind::max;
  const std::size_t wanted = node.kind <= Kind::name ? 0 : node.kind == Kind::neg ? 1 : 2;
  if (nary ? arity < 2 : arity != wanted) return internal_error("an operator with a wrong number of operands");
  if (node.kind == Kind::integer) return context_->constant(node.value);
  if (node.kind == Kind::name) return symbol(node);
  const Expr a = operands[0].expr;
  if (node.kind == Kind::neg) return context_->neg(a);
  if (nary) {
    Expr result = a;
    for (const Operand& operand : operands.subspan(1)) {
      result = node.kind == Kind::min ? context_->min(result, operand.expr) : context_->max(result, operand.expr);
      PADLOCK_CHECK(check_size(result, node.where));
    }
    return result;
  }
  const Expr b = operands[1].expr;
  if (node.kind == Kind::mul) return context_->mul(a, b);
  PADLOCK_CHECK(check_divisor(operands[1], positive));
  if (node.kind == Kind::floordiv) return context_->floordiv(a, b);
  return node.kind == Kind::ceildiv ? context_->ceildiv(a, b) : context_->mod(a, b);
}

}  // namespace padlock::ir
