#pragma once

#include "compiler/emit/scalar/activation/float_emitter.h"
#include "compiler/emit/scalar/activation/half_functions.h"
#include "ir/dtype.h"

namespace padlock::compiler {

/// Emits the activations of f16 and bf16 in f32. The argument is an f32 that the type has. The result rounds to the
/// type as the f32 rule's result does. Branch-free, without tables and calls. All results are the same whether or not
/// products are rounded before additions, and for any GPU reciprocal within two units. (tests/activation judges all.)
class HalfActivationEmitter {
 public:
  using Value = llvm::Value;

  /// `type`: f32 or a vector of it. `dtype`: f16 or bf16.
  HalfActivationEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target, ir::DType dtype)
      : f_(builder, type, target), narrow_exponent_(dtype == ir::DType::f16) {}

  /// `op`: of class OpClass::activation.
  [[nodiscard]] Value* emit(ir::Op op, Value* x);

 private:
  /// An argument of exp, less k ln 2.
  struct Reduced {
    Value* rest;
    Value* shifted;  ///< has k and a bias in its last bits
  };
  using Function = activation::HalfFunction;

  Value* bounded(const Function& f, Value* x) { return f_.at_least(f_.at_most(x, f.most), f.least); }
  Value* less_multiple(Value* k, double step, Value* from);
  Reduced reduce(Value* x, double scale, int bias);
  Value* power_of_two(Value* shifted);
  Value* scaled(Value* value, Value* shifted);
  Value* logistic(const Function& f, const Reduced& reduced, double numerator);
  [[nodiscard]] int logistic_bias() const;

  Value* exp(const Function& f, Value* x);
  Value* log(const Function& f, Value* x);
  Value* tanh(const Function& f, Value* x);
  Value* sigmoid(const Function& f, Value* x);
  Value* erf(const Function& f, Value* x);
  Value* gelu(const Function& f, Value* x);
  Value* gelu_tanh(const Function& f, Value* x);
  Value* silu(const Function& f, Value* x);
  Value* softplus(const Function& f, Value* x);

  FloatEmitter f_;
  bool narrow_exponent_;  // for f16: its results need no care at f32's ends
};

}  // namespace padlock::compiler
