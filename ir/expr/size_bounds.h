#pragma once

#include <functional>
#include <map>
#include <optional>

#include "ir/expr/expr.h"

namespace padlock::ir {

/// Inclusive bounds of an expression, in which no coordinate occurs.
struct SizeBounds {
  Expr least, most;
};

/// Finds bounds over sizes of what coordinates occur in: interval arithmetic whose ends are expressions. Sound: where
/// each coordinate lies in its own bounds, an expression lies in those that are found for it, for all sizes.
class SizeBoundsFinder {
 public:
  /// Bounds of a coordinate, which others may occur in that have bounds; nullopt if there are none.
  using OfCoordinate = std::function<std::optional<SizeBounds>(Expr coordinate)>;

  /// Borrows the context.
  SizeBoundsFinder(ExprContext& exprs, OfCoordinate of_coordinate)
      : exprs_(exprs), of_coordinate_(std::move(of_coordinate)) {}

  /// Returns nullopt where a coordinate has no bounds, or something is divided by what coordinates occur in.
  [[nodiscard]] std::optional<SizeBounds> of(Expr e);

 private:
  std::optional<SizeBounds> find(Expr e);
  std::optional<SizeBounds> coordinate_bounds(Expr coordinate);
  std::optional<SizeBounds> sum_bounds(Expr e);
  std::optional<SizeBounds> product_bounds(Expr e);
  std::optional<SizeBounds> division_bounds(Expr e);
  std::optional<SizeBounds> extremum_bounds(Expr e);
  [[nodiscard]] SizeBounds product(const SizeBounds& a, const SizeBounds& b);

  ExprContext& exprs_;
  OfCoordinate of_coordinate_;
  std::map<std::uint32_t, std::optional<SizeBounds>> known_;  // by Expr::id
};

}  // namespace padlock::ir
