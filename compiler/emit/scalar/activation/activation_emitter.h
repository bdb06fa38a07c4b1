#pragma once

#include "compiler/emit/scalar/activation/coefficients.h"
#include "compiler/emit/scalar/activation/float_emitter.h"
#include "ir/operation.h"

namespace padlock::compiler {

/// Emits the activations of f32. The result is the f32 nearest to the real function's value, ties to even. Computes in
/// f64. A GPU bounds and tests arguments in f32. A CPU does so in f64, since its vectors of f32 would have to be split.
/// Branch-free, without tables and calls. Judged on all floats by tests/activation.
class ActivationEmitter {
 public:
  using Value = llvm::Value;

  /// Parameters as FloatEmitter's, but `type`: f32 or a vector of it.
  ActivationEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target, bool folds)
      : f_(builder, type->getWithNewType(builder.getDoubleTy()), target, folds),
        narrow_(builder, target.packs_words ? type : f_.type(), target, folds) {}

  /// `op`: of class OpClass::activation.
  [[nodiscard]] Value* emit(ir::Op op, Value* x);

 private:
  /// An argument of exp as r + k ln 2; |r| is at most half of ln 2.
  struct Reduced {
    Value* rest;
    Value* scale;  ///< 2^k
  };
  struct Quotient {
    Value* above;
    Value* below;
  };

  Value* of_argument(ir::Op op, Value* x);
  Reduced reduce(Value* x);
  Quotient exponential(const Reduced& x);
  Quotient exponential_of_half(Value* w);
  Value* stepped(Value* part, std::span<const activation::QuadraticStep> steps, Value* square);
  Value* sigmoid_of_negative(const Reduced& x);
  Value* gate(Value* x, Value* magnitude, Value* share);
  // Emits no conversion if x already has the type.
  Value* wide(Value* x) { return f_.builder().CreateFPExt(x, f_.type()); }
  Value* rounded(Value* value) { return f_.builder().CreateFPTrunc(value, narrow_.type()); }
  Value* magnitude_at_most(double most, Value* x) { return wide(narrow_.at_most(narrow_.magnitude(x), most)); }
  Value* positive_part(Value* x) { return wide(narrow_.if_negative(x, narrow_.constant(0), x)); }

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

  FloatEmitter f_;       // computes in f64
  FloatEmitter narrow_;  // computes in the arguments' type: f32, or f64 on a CPU
};

}  // namespace padlock::compiler
