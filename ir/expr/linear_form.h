#pragma once

#include <optional>
#include <vector>

#include "ir/expr/expr.h"

namespace padlock::ir {

/// An expression taken apart as  constant + sum of coefficients[i] * terms[i]: non-zero coefficients, terms distinct
/// and sorted by structural_order. A plain value: creating one interns nothing.
struct LinearForm {
  Int128 constant = 0;
  std::vector<Expr> terms;
  std::vector<Int128> coefficients;

  [[nodiscard]] static LinearForm of(Expr e);
  /// Returns whether it is one term without a constant.
  [[nodiscard]] bool is_monomial() const { return constant == 0 && terms.size() == 1; }
  [[nodiscard]] std::size_t size() const { return terms.size() + (constant != 0 ? 1 : 0); }
  /// Returns the coefficient of `term`, or 0.
  [[nodiscard]] Int128 coefficient_of(Expr term) const;
  void append(Expr term, Int128 coefficient);  ///< precondition: `term` comes after all terms
};

// The next two return nullopt if a coefficient or the constant would not fit 128 bits.
[[nodiscard]] std::optional<LinearForm> scaled(const LinearForm& a, Int128 factor);
/// Returns a + factor * b.
[[nodiscard]] std::optional<LinearForm> added(const LinearForm& a, const LinearForm& b, Int128 factor = 1);

/// Returns a / b if b divides a and the quotient fits, else nullopt. Precondition: b != 0.
[[nodiscard]] constexpr std::optional<Int128> exact_quotient(Int128 a, Int128 b) {
  if (b == -1) return checked_mul<Int128>(a, -1);  // the least value modulo -1 is undefined in C++
  return a % b == 0 ? std::optional(a / b) : std::nullopt;
}

/// Returns the greatest common divisor, >= 0, of all coefficients and of `with`, without the constant.
[[nodiscard]] Int128 common_divisor(const LinearForm& a, Int128 with = 0);
/// Returns a floordiv g, as (a - constant) / g + constant floordiv g. Precondition: g > 0 divides every coefficient.
[[nodiscard]] LinearForm floor_divided(const LinearForm& a, Int128 g);

[[nodiscard]] Range range_of(const LinearForm& a);
/// Returns the range of a - b.
[[nodiscard]] Range difference_range(Expr a, Expr b);
/// Returns |constant| + sum |coefficients[i]| * max |terms[i]|, saturated to Range::kMax; also kMax if evaluating a
/// term may overflow. Below kMax every partial result of evaluating the form, in any order, stays within 126 bits.
[[nodiscard]] Int128 magnitude_bound(const LinearForm& a);

}  // namespace padlock::ir
