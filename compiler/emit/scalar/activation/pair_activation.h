#pragma once

#include <utility>

#include "compiler/emit/scalar/activation/float_emitter.h"
#include "ir/operation.h"

namespace padlock::compiler {

/// Emits exp, sigmoid and silu of f32 without f64, for a GPU with few f64 units. Results are sums of two f32, which are
/// right wherever their error cannot change how they round. That is so for all but 1 argument in 200.
class PairActivation {
 public:
  using Value = llvm::Value;

  [[nodiscard]] static bool serves(const TargetFeatures& target, ir::Op op) {
    return target.few_f64_units && target.fma && (op == ir::Op::exp || op == ir::Op::sigmoid || op == ir::Op::silu);
  }
  /// `type`: f32.
  PairActivation(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target)
      : f_(builder, type, target) {}

  /// Returns the result, and as i1 whether its rounding is in doubt.
  [[nodiscard]] std::pair<Value*, Value*> emit(ir::Op op, Value* x);

 private:
  /// A sum that is not rounded.
  struct Pair {
    Value *high, *low;
  };
  struct Exponential {
    Pair pair;
    Value* shifted;  ///< has the power of two, and f32's bias, in its last bits
  };

  Pair plus(double larger, Pair smaller);
  Pair times(Value* factor, Pair pair);
  Exponential exponential(Value* x);
  std::pair<Value*, Value*> exp(Value* x);
  std::pair<Value*, Value*> logistic(Value* x, bool times_x);

  FloatEmitter f_;
};

}  // namespace padlock::compiler
