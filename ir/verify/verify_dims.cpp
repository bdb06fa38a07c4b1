#include "ir/verify/verify_dims.h"

#include <fmt/format.h>

#include "ir/program.h"

namespace padlock::ir {

using syntax::DimNode;

Result<Expr> DimBuilder::build(const syntax::Dim& dim, const Positive& positive) const {
  if (dim.nodes.size() > syntax::kMaxDimNodes)
    return diagnostics_->too_large(
        dim.where(), fmt::format("expected at most {} operators in an expression", syntax::kMaxOperators));
  std::vector<Operand> stack;
  for (const DimNode& node : dim.nodes) {
    if (node.operands > stack.size()) return internal_error("an expression whose operator lacks an operand");
    const auto operands = std::span<const Operand>(stack).last(node.operands);
    PADLOCK_TRY(const Expr result, apply(node, operands, positive));
    if (result.depth() > kMaxExprDepth)
      return diagnostics_->too_large(dim.where(),
                                     fmt::format("expected an expression at most {} operators deep", kMaxExprDepth));
    stack.resize(stack.size() - node.operands);
    stack.push_back({result, node.where});
  }
  if (stack.size() != 1) return internal_error("an expression that is not one value");
  return stack.back().expr;
}

Result<Expr> DimBuilder::symbol(const DimNode& node) const {
  const NameTable::Kind kind = names_->kind_of(node.name);
  if (kind == NameTable::Kind::unknown)
    return diagnostics_->error(
        node.where,
        fmt::format("expected a symbol, found the unknown name '{}' (a symbol is declared by standing alone "
                    "as an extent or stride of a tensor parameter, or as a dim parameter)",
                    node.name));
  const auto found = kind == NameTable::Kind::symbol ? context_->find_symbol(node.name) : std::nullopt;
  if (!found)
    return diagnostics_->error(node.where, fmt::format("expected a symbol, found {}", names_->describe(node.name)));
  return *found;
}

Status DimBuilder::check_divisor(const Operand& divisor, const Positive& positive) const {
  if (positive(divisor.expr)) return {};
  const std::string text = brief(*context_, divisor.expr);
  const std::string hint = divisor.expr.is_constant()
                               ? ""
                               : fmt::format("; a constraint such as {} >= 1, stated before its use, would do", text);
  return diagnostics_->error(divisor.where,
                             fmt::format("expected a divisor that is provably positive, found {}{}", text, hint));
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
    for (const Operand& operand : operands.subspan(1))
      result = node.kind == Kind::min ? context_->min(result, operand.expr) : context_->max(result, operand.expr);
    return result;
  }
  const Expr b = operands[1].expr;
  if (node.kind == Kind::add) return context_->add(a, b);
  if (node.kind == Kind::sub) return context_->sub(a, b);
  if (node.kind == Kind::mul) return context_->mul(a, b);
  PADLOCK_CHECK(check_divisor(operands[1], positive));
  if (node.kind == Kind::floordiv) return context_->floordiv(a, b);
  return node.kind == Kind::ceildiv ? context_->ceildiv(a, b) : context_->mod(a, b);
}

}  // namespace padlock::ir
