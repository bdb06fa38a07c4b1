#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "tests/common/rng.h"

// Random expressions in two forms: the canonical Expr, and the plain tree from which it was made.
namespace padlock::testing {

/// An expression as written, evaluated step by step in 128 bits.
struct Tree {
  enum class Op : std::uint8_t { constant, symbol, add, sub, mul, neg, floordiv, ceildiv, mod, min, max };
  Op op = Op::constant;
  Int128 value = 0;
  std::uint32_t symbol = 0;
  std::vector<Tree> operands;

  /// Returns nullopt if a step's absolute value reaches 2^127 or a divisor is not positive. A product with a zero
  /// factor is 0.
  [[nodiscard]] std::optional<Int128> evaluate(const std::vector<std::int64_t>& values) const;
  [[nodiscard]] ir::Expr build(ir::ExprContext& context, const std::vector<ir::Expr>& symbols) const;
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::optional<Int128> evaluate_step(const std::vector<std::int64_t>& values) const;
};

/// Declares symbols of assorted ranges, some with a congruence, some as wide as int64.
[[nodiscard]] std::vector<ir::Expr> declare_assorted_symbols(ir::ExprContext& context);
/// Draws admissible values, often at an end of the range.
[[nodiscard]] std::vector<std::int64_t> draw_values(Rng& random, const ir::ExprContext& context);
/// Draws a tree over the symbols; divisors are provably positive.
[[nodiscard]] Tree draw_tree(Rng& random, const std::vector<ir::Expr>& symbols, int depth);

}  // namespace padlock::testing
