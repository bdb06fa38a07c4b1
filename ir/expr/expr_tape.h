#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/expr/expr.h"
#include "support/error.h"

namespace padlock::ir {

/// Evaluates many expressions repeatedly. Their DAG is a flat array of steps, one for each shared node. It is evaluated
/// in 64 bits, and again in 128 if a root then has no value. The values are those of `evaluate` in expr.h. Allocates
/// nothing up to 128 nodes. Immutable after construction, thread-safe.
class ExprTape {
 public:
  ExprTape() = default;
  ExprTape(const ExprContext& context, std::vector<Expr> roots);
  [[nodiscard]] std::span<const Expr> roots() const { return roots_; }

  /// Writes the value of root i to out[i]. Errors as evaluate_int64, naming the root; earlier roots are written.
  [[nodiscard]] Status evaluate(std::span<const std::int64_t> values, std::span<std::int64_t> out) const;
  /// Writes the values of the roots in 128 bits, nullopt for a root that has no value.
  void evaluate(std::span<const std::int64_t> values, std::span<std::optional<Int128>> out) const;
  /// Returns the error that explains why a root has no value. Precondition: it has none under these values.
  [[nodiscard]] Error explain(std::size_t root, std::span<const std::int64_t> values) const;

 private:
  /// A node. Its operands follow those of the steps before it.
  struct Step {
    ExprKind kind;
    std::uint32_t count;  // number of operands
    std::uint32_t symbol;
    Int128 value;  // a constant, the constant summand of a sum
  };
  struct Operand {
    std::uint32_t slot;  // an earlier step
    Int128 coefficient;  // of a sum
  };
  /// A number, or none after an overflow or a divisor that is not positive.
  template <class T>
  struct Value;
  template <class T>
  class Evaluation;

  template <class T>
  void run(std::span<const std::int64_t> values, std::span<Value<T>> results) const;
  template <class Out>
  bool evaluate_narrow(std::span<const std::int64_t> values, std::span<Out> out) const;

  const ExprContext* context_ = nullptr;  // borrowed (outlives the tape)
  std::vector<Expr> roots_;
  std::vector<std::uint32_t> root_slots_;  // the step of each root
  std::vector<Expr> nodes_;                // the node of each step, for messages
  std::vector<Step> steps_;                // operands first
  std::vector<Operand> operands_;          // of all steps, concatenated
};

}  // namespace padlock::ir
