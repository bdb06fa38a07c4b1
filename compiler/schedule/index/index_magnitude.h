#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Bounds emitted expressions by sizes: for |e| over all coordinates, and for every intermediate on the way, an
/// expression of sizes alone. It is interval arithmetic with sizes in place of numbers, so it exists for every index
/// and can be evaluated before a launch. Divisors are at least 1. Remembers what it has looked at. Borrows the context.
class IndexMagnitude {
 public:
  explicit IndexMagnitude(const Kernel& kernel) : IndexMagnitude(kernel.program->exprs(), kernel.extents) {
    walks_ = kernel.walk_variables;
  }
  /// `extents`: of the coordinates, by axis.
  IndexMagnitude(ir::ExprContext& exprs, std::vector<ir::Expr> extents) : exprs_(exprs), extents_(std::move(extents)) {}

  /// Returns an upper bound of |e| and of all its intermediates.
  [[nodiscard]] ir::Expr of(ir::Expr e) { return bounds(e).widest; }

 private:
  /// Least and greatest value, and an upper bound of the magnitudes on the way to it.
  struct Bounds {
    ir::Expr lo, hi, widest;
  };
  Bounds bounds(ir::Expr e);
  Bounds made(ir::Expr e);
  Bounds size(ir::Expr e);
  Bounds coordinate(ir::Expr e);
  Bounds sum(ir::Expr e);
  Bounds product(ir::Expr e);
  Bounds multiplied(const Bounds& a, const Bounds& b);
  Bounds quotient(ir::Expr e);
  Bounds remainder(ir::Expr e);
  Bounds minmax(ir::Expr e);
  ir::Expr magnitude(const Bounds& of);

  ir::ExprContext& exprs_;
  std::vector<ir::Expr> extents_;
  std::vector<Kernel::WalkVariable> walks_ = {};
  std::map<std::uint32_t, Bounds> known_;  // by Expr::id
};

}  // namespace padlock::compiler
