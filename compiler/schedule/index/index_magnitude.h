#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Bounds emitted expressions by sizes: for |e| over all coordinates, and for every intermediate on the way, an
/// expression of sizes alone. It is coarse (each term of a sum counts with its magnitude, each coordinate with its
/// extent), but it exists for every index and can be evaluated before a launch. Remembers what it has looked at.
/// Borrows the kernel.
class IndexMagnitude {
 public:
  explicit IndexMagnitude(const Kernel& kernel) : IndexMagnitude(kernel.program->exprs(), kernel.extents) {}
  /// `extents`: of the coordinates, by axis.
  IndexMagnitude(ir::ExprContext& exprs, std::vector<ir::Expr> extents) : exprs_(exprs), extents_(std::move(extents)) {}

  /// Returns an upper bound of |e| and of all its intermediates; at least 1.
  [[nodiscard]] ir::Expr of(ir::Expr e);

 private:
  [[nodiscard]] ir::Expr size(ir::Expr e);
  [[nodiscard]] ir::Expr coordinate(ir::Expr e);
  [[nodiscard]] ir::Expr made(ir::Expr e);
  [[nodiscard]] ir::Expr sum(ir::Expr e);
  [[nodiscard]] ir::Expr product(ir::Expr e);
  [[nodiscard]] ir::Expr divided(ir::Expr e);
  [[nodiscard]] ir::Expr at_least_one(ir::Expr e);

  ir::ExprContext& exprs_;
  std::vector<ir::Expr> extents_;
  std::map<std::uint32_t, ir::Expr> known_;  // by Expr::id
};

}  // namespace padlock::compiler
