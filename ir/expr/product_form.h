#pragma once

#include <map>
#include <span>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/expr/expr.h"

namespace padlock::ir {

/// A product as a literal and factors that are no products, sorted by Expr::id.
struct ProductForm {
  Int128 coefficient = 1;
  std::vector<Expr> factors = {};
  friend bool operator==(const ProductForm&, const ProductForm&) = default;
};

/// Compares products of extents. It writes remainders by quotients (x mod d is x - d * (x floordiv d)), so that an
/// extent rounded up to a multiple is seen to be one. A quotient times its divisor becomes the dividend if that is
/// known to be a multiple. Nothing is multiplied out, so sizes may be arbitrarily large.
class Products {
 public:
  /// `known`: constraints that hold; only those of the form `x mod d == 0` are used. Borrows the context.
  Products(ExprContext& exprs, std::span<const Constraint> known);

  [[nodiscard]] ProductForm of(std::span<const Expr> extents);
  /// Returns whether two products are shown to be equal for every binding.
  [[nodiscard]] bool equal(std::span<const Expr> a, std::span<const Expr> b);

 private:
  Expr in_quotients(Expr e);
  [[nodiscard]] bool divides(Expr d, Expr x);
  void multiply(ProductForm& form, Expr e);
  bool undo_division(ProductForm& form);

  ExprContext& exprs_;
  std::vector<Expr> zero_;                   // remainders that are 0
  std::map<std::uint32_t, Expr> rewritten_;  // by Expr::id
};

}  // namespace padlock::ir
