#pragma once

#include "compiler/emit/scalar/activation/coefficients.h"
#include "compiler/emit/scalar/activation/float_emitter.h"
#include "ir/operation.h"

namespace padlock::compiler {

/// Emits the activations of f32: of an argument, given and returned as f64, what rounds to the f32 that is nearest to
/// the real function's value, ties to even. Branch-free, without tables and calls. Judged on all floats by
/// tests/activation.
class ActivationEmitter {
 public:
  using Value = llvm::Value;

  /// As FloatEmitter's.
  ActivationEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target, bool folds)
      : f_(builder, type, target, folds) {}

  /// `op`: of the class OpClass::activation. `x`: what f32 has.
  [[nodiscard]] Value* emit(ir::Op op, Value* x);

 private:
  /// Reduced holds an argument of exp as r + k ln 2: |r| is at most half of ln 2.
  struct Reduced {
    Value* rest;
    Value* scale;  ///< 2^k
  };
  struct Quotient {
    Value* above;
    Value* below;
  };

  Reduced reduce(Value* x);
  Quotient exponential(const Reduced& x);
  Quotient exponential_of_half(Value* w);
  Value* stepped(Value* part, std::span<const activation::QuadraticStep> steps, Value* square);
  Value* sigmoid_of_negative(const Reduced& x);
  Value* gate(Value* x, Value* magnitude, Value* share);

  Value* exp(Value* x);
  Value* log(Value* x);
  Value* tanh(Value* x);
  Value* sigmoid(Value* x);
  Value* erf(Value* x);
  Value* gelu(Value* x);
  Value* gelu_tanh(Value* x);
  Value* silu(Value* x);
  Value* softplus(Value* x);
  Value* round_to_odd(Value* sum, Value* lacking);

  FloatEmitter f_;
};

}  // namespace padlock::compiler
