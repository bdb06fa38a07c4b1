#pragma once

#include <unordered_map>

#include <z3++.h>

#include "ir/expr/expr.h"

// Expressions in Z3, as unbounded integers. Z3's div and mod are Euclidean, which for a positive divisor rounds to
// minus infinity.
namespace padlock::testing {

enum class Verdict : std::uint8_t { valid, refuted, unknown };

class Z3Judge {
 public:
  /// Every used symbol ranges over its declared values. `effort` limits one question in Z3's own steps, so that the
  /// answer does not depend on the machine's load.
  Z3Judge(const ir::ExprContext& context, unsigned effort);

  [[nodiscard]] z3::expr integer(Int128 value);
  [[nodiscard]] z3::expr of(ir::Expr e);
  [[nodiscard]] z3::expr quotient(const z3::expr& a, const z3::expr& b);
  void assume(const z3::expr& fact) { solver_.add(fact); }
  /// Decides whether `claim` holds for all values under the assumptions.
  [[nodiscard]] Verdict judge(const z3::expr& claim);
  /// Returns a counter-example, after `refuted`.
  [[nodiscard]] std::string model() const { return model_; }
  [[nodiscard]] z3::context& z3() { return z3_; }

 private:
  z3::expr symbol(ir::Expr e);

  const ir::ExprContext& context_;  // borrowed
  z3::context z3_;
  z3::solver solver_;
  std::unordered_map<std::uint32_t, z3::expr> made_;  // keys are ids
  std::string model_;
};

}  // namespace padlock::testing
