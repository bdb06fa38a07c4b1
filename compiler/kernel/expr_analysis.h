#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "ir/expr/expr.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Computes a property of an expression from those of its operands: a range, bounds over sizes, growth. Remembers
/// results, so that many expressions cost no more than their DAG.
template <class Result>
class ExprAnalysis {
 public:
  [[nodiscard]] Result of(ir::Expr e) {
    if (!varies(e)) return fixed(e);
    if (const auto it = known_.find(e.id()); it != known_.end()) return it->second;
    take_steps(steps_ * (1 + e.operands().size()));
    const Result found = operation(e);
    known_.emplace(e.id(), found);
    return found;
  }

 protected:
  /// `steps`: budget for one expression; each of its operands takes some.
  explicit ExprAnalysis(std::size_t steps = 0) : steps_(steps) {}
  ~ExprAnalysis() = default;

  /// Returns whether an expression has coordinates that matter; other expressions are `fixed`.
  [[nodiscard]] virtual bool varies(ir::Expr e) const { return e.has_coordinate(); }
  virtual Result fixed(ir::Expr e) = 0;
  virtual Result coordinate(ir::Expr e) = 0;
  virtual Result sum(ir::Expr e) = 0;
  virtual Result product(ir::Expr e) = 0;
  virtual Result floordiv(ir::Expr e) = 0;
  virtual Result mod(ir::Expr e) = 0;
  virtual Result minmax(ir::Expr e) = 0;

 private:
  Result operation(ir::Expr e) {
    switch (e.kind()) {
      case ir::ExprKind::constant:
        break;
      case ir::ExprKind::symbol:
        return coordinate(e);
      case ir::ExprKind::sum:
        return sum(e);
      case ir::ExprKind::product:
        return product(e);
      case ir::ExprKind::floordiv:
        return floordiv(e);
      case ir::ExprKind::mod:
        return mod(e);
      case ir::ExprKind::min:
      case ir::ExprKind::max:
        return minmax(e);
    }
    return fixed(e);
  }

  std::size_t steps_;
  std::unordered_map<std::uint32_t, Result> known_;  // by Expr::id
};

}  // namespace padlock::compiler
