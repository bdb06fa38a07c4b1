#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ir/expr.h"

// Random expressions, kept twice: as the canonical Expr and as the plain tree that was asked for.
namespace padlock::testing {

/// The seed of a random test: PADLOCK_SEED from the environment, else `fallback`. Printed by the test that uses it.
[[nodiscard]] std::uint64_t seed_or(std::uint64_t fallback);

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [lo, hi].
  std::int64_t in(std::int64_t lo, std::int64_t hi) { return std::uniform_int_distribution(lo, hi)(engine_); }
  bool chance(int percent) { return in(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// An expression as written, evaluated step by step in 128 bits.
struct Tree {
  enum class Op : std::uint8_t { constant, symbol, add, sub, mul, neg, floordiv, ceildiv, mod, min, max };
  Op op = Op::constant;
  Int128 value = 0;
  std::uint32_t symbol = 0;
  std::vector<Tree> operands;

  /// nothing where a step's absolute value reaches 2^127 or a divisor is not positive; a product with a zero factor is
  /// 0.
  [[nodiscard]] std::optional<Int128> evaluate(const std::vector<std::int64_t>& values) const;
  [[nodiscard]] ir::Expr build(ir::ExprContext& context, const std::vector<ir::Expr>& symbols) const;
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::optional<Int128> evaluate_step(const std::vector<std::int64_t>& values) const;
};

/// Declares symbols of assorted ranges, some with a congruence, some as wide as int64.
[[nodiscard]] std::vector<ir::Expr> declare_assorted_symbols(ir::ExprContext& context);
/// Admissible values, often at an end of the range.
[[nodiscard]] std::vector<std::int64_t> draw_values(Random& random, const ir::ExprContext& context);
/// A tree over the symbols; divisors are provably positive.
[[nodiscard]] Tree draw_tree(Random& random, const std::vector<ir::Expr>& symbols, int depth);

}  // namespace padlock::testing
