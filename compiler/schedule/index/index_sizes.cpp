#include "compiler/schedule/index/index_sizes.h"

#include <span>

#include "compiler/schedule/index/index_width.h"

namespace padlock::compiler {

using ir::ExprKind;

void IndexSizes::add(Expr e) {
  if (!e.has_coordinate()) return add_size(e);
  if (!seen_.insert(e.id()).second || e.kind() == ExprKind::symbol) return;
  if (e.kind() == ExprKind::sum || e.kind() == ExprKind::mod) {
    // A dividend's rest arrives reduced.
    const auto [moving, rest] = split_sum(exprs_, e.kind() == ExprKind::sum ? e : e.operands()[0]);
    for (const Expr term : moving.kind() == ExprKind::sum ? moving.operands() : std::span(&moving, 1)) add(term);
    return add(e.kind() == ExprKind::sum ? rest : e.operands()[1]);
  }
  Expr rest = exprs_.constant(1);
  for (const Expr operand : e.operands())
    if (e.kind() == ExprKind::product && !operand.has_coordinate())
      rest = exprs_.mul(rest, operand);
    else
      add(operand);
  add_size(rest);
}

void IndexSizes::add_size(Expr e) {
  if (!e.is_constant() && seen_.insert(e.id()).second) found_.push_back(e);
}

}  // namespace padlock::compiler
