#pragma once

#include <functional>
#include <map>
#include <optional>

#include "ir/expr/expr.h"

namespace padlock::compiler {

/// Inclusive bounds of an expression, in which no coordinate occurs.
struct SizeBounds {
  ir::Expr least, most;
};

/// Finds bounds over sizes of what coordinates occur in: interval arithmetic whose ends are expressions. Sound: where
/// each coordinate lies in its own bounds, an expression lies in those that are found for it, for all sizes.
class SizeBoundsFinder {
 public:
  /// Bounds of a coordinate, which others may occur in that have bounds; nullopt if there are none.
  using OfCoordinate = std::function<std::optional<SizeBounds>(ir::Expr coordinate)>;

  /// `tight`: looks into remainders and mirrored coordinates, too, for bounds that are of more operations. Else
  /// divisors count as 1 or more. Borrows the context.
  SizeBoundsFinder(ir::ExprContext& exprs, OfCoordinate of_coordinate, bool tight = true)
      : exprs_(exprs), of_coordinate_(std::move(of_coordinate)), tight_(tight) {}

  /// Returns nullopt where a coordinate has no bounds.
  [[nodiscard]] std::optional<SizeBounds> of(ir::Expr e);

 private:
  std::optional<SizeBounds> find(ir::Expr e);
  std::optional<SizeBounds> coordinate_bounds(ir::Expr coordinate);
  std::optional<SizeBounds> sum_bounds(ir::Expr e);
  std::optional<SizeBounds> product_bounds(ir::Expr e);
  std::optional<SizeBounds> division_bounds(ir::Expr e);
  std::optional<SizeBounds> extremum_bounds(ir::Expr e);
  void tighten(SizeBounds& bounds, ir::Expr extremum);
  [[nodiscard]] SizeBounds product(const SizeBounds& a, const SizeBounds& b);

  ir::ExprContext& exprs_;
  OfCoordinate of_coordinate_;
  bool tight_;
  std::map<std::uint32_t, std::optional<SizeBounds>> known_;  // by Expr::id
};

}  // namespace padlock::compiler
