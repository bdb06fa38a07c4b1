#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel/expr_analysis.h"
#include "compiler/kernel/kernel.h"

namespace padlock::compiler {

/// Inclusive bounds of an expression. No coordinate occurs in them.
struct SizeBounds {
  ir::Expr least, most;
};

/// Finds bounds over sizes of expressions with coordinates: interval arithmetic whose ends are expressions. Sound: if
/// each coordinate lies in its own bounds, the expression lies in the bounds found, for all sizes. Finds none if a
/// coordinate has none.
class SizeBoundsFinder final : public ExprAnalysis<std::optional<SizeBounds>> {
 public:
  /// Returns the bounds of a coordinate; other coordinates that have bounds may occur in them. nullopt: no bounds.
  using OfCoordinate = std::function<std::optional<SizeBounds>(ir::Expr coordinate)>;

  /// `tight`: looks into remainders and mirrored coordinates, too; these bounds have more operations. Else divisors
  /// count as 1 or more. Borrows the context.
  SizeBoundsFinder(ir::ExprContext& exprs, OfCoordinate of_coordinate, bool tight = true)
      : exprs_(exprs), of_coordinate_(std::move(of_coordinate)), tight_(tight) {}

 private:
  std::optional<SizeBounds> fixed(ir::Expr e) override { return SizeBounds{e, e}; }
  std::optional<SizeBounds> coordinate(ir::Expr e) override;
  std::optional<SizeBounds> sum(ir::Expr e) override;
  std::optional<SizeBounds> product(ir::Expr e) override;
  std::optional<SizeBounds> floordiv(ir::Expr e) override { return division(e); }
  std::optional<SizeBounds> mod(ir::Expr e) override { return division(e); }
  std::optional<SizeBounds> minmax(ir::Expr e) override;
  std::optional<SizeBounds> division(ir::Expr e);
  void tighten(SizeBounds& bounds, ir::Expr extremum);
  [[nodiscard]] SizeBounds multiplied(const SizeBounds& a, const SizeBounds& b);

  ir::ExprContext& exprs_;
  OfCoordinate of_coordinate_;
  bool tight_;
};

/// Bounds emitted expressions by sizes. For |e| over all coordinates, and for every intermediate, the bound is an
/// expression of sizes alone, which can be evaluated before a launch. Every index has a bound. Divisors are at least 1.
/// Borrows the context.
class IndexMagnitude final : public ExprAnalysis<ir::Expr> {
 public:
  explicit IndexMagnitude(const Kernel& kernel)
      : IndexMagnitude(kernel.exprs(), kernel.extents, kernel.inner_variables()) {}
  /// `extents`: of the coordinates, by axis.
  IndexMagnitude(ir::ExprContext& exprs, const std::vector<ir::Expr>& extents,
                 std::span<const Kernel::WalkVariable> walks = {});

 private:
  ir::Expr fixed(ir::Expr e) override { return magnitude(e); }
  ir::Expr coordinate(ir::Expr e) override { return magnitude(e); }
  ir::Expr sum(ir::Expr e) override;
  ir::Expr product(ir::Expr e) override;
  ir::Expr floordiv(ir::Expr e) override { return exprs_.add(minmax(e), exprs_.constant(1)); }
  ir::Expr mod(ir::Expr e) override;
  ir::Expr minmax(ir::Expr e) override;
  /// Returns an upper bound of |e| alone.
  ir::Expr magnitude(ir::Expr e);

  ir::ExprContext& exprs_;
  SizeBoundsFinder bounds_;
};

}  // namespace padlock::compiler
