#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/index/size_bounds.h"
#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Bounds emitted expressions by sizes: for |e| over all coordinates, and for every intermediate on the way, an
/// expression of sizes alone, which can be evaluated before a launch. It exists for every index. Divisors are at least
/// 1. Remembers what it has looked at. Borrows the context.
class IndexMagnitude {
 public:
  explicit IndexMagnitude(const Kernel& kernel)
      : IndexMagnitude(kernel.program->exprs(), kernel.extents, kernel.walk_variables) {}
  /// `extents`: of the coordinates, by axis.
  IndexMagnitude(ir::ExprContext& exprs, const std::vector<ir::Expr>& extents,
                 std::span<const Kernel::WalkVariable> walks = {});

  /// Returns an upper bound of |e| and of all its intermediates.
  [[nodiscard]] ir::Expr of(ir::Expr e);

 private:
  ir::Expr made(ir::Expr e);
  ir::Expr sum(ir::Expr e);
  ir::Expr product(ir::Expr e);
  ir::Expr widest_operand(ir::Expr e);
  /// Returns an upper bound of |e| alone.
  ir::Expr magnitude(ir::Expr e);

  ir::ExprContext& exprs_;
  SizeBoundsFinder bounds_;
  std::map<std::uint32_t, ir::Expr> known_;  // by Expr::id
};

}  // namespace padlock::compiler
