#pragma once

#include <span>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/scalar/target_features.h"

namespace padlock::compiler {

/// Emits IEEE arithmetic on values of f64 or f32 (scalars, or vectors of one length). Each operation rounds by itself.
/// Only `fma` contracts, and nothing calls a library.
class FloatEmitter {
 public:
  using Value = llvm::Value;

  /// `type`: f64, f32 or a vector of one. A target without fused multiply-adds rounds a product before it is added.
  /// `folds`: the values are constants that the assembler shall compute with, so a GPU loads and approximates nothing.
  FloatEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target, bool folds = false);

  [[nodiscard]] llvm::Type* type() const { return type_; }
  [[nodiscard]] bool has_fma() const { return target_.fma; }
  [[nodiscard]] Value* constant(double value) const;
  Value* add(Value* a, Value* b) { return builder_.CreateFAdd(a, b); }
  Value* add(Value* a, double b) { return add(a, constant(b)); }
  Value* sub(Value* a, Value* b) { return builder_.CreateFSub(a, b); }
  Value* mul(Value* a, Value* b) { return builder_.CreateFMul(a, b); }
  Value* mul(Value* a, double b) { return mul(a, constant(b)); }
  Value* div(Value* a, Value* b) { return builder_.CreateFDiv(a, b); }
  /// Divides f64 numbers whose exponents, and the quotient's, are far from the ends; also NaNs. Rounds as `div` does. A
  /// GPU's own division has one more branch, for other numbers.
  Value* quotient(Value* a, Value* b);
  Value* sqrt(Value* x);
  /// Divides a number by f32. A GPU refines an approximate reciprocal by two fused steps, so the quotient of normal
  /// numbers may be a unit off. Other targets round once.
  Value* near_quotient(double a, Value* b);
  /// Computes 1 / sqrt(x): of f32 to 2^-21 or better, of f64 to 2^-52. Takes 0 and infinity, too, and subnormals of f32
  /// if they are `kept`.
  Value* near_rsqrt(Value* x, bool kept);
  Value* magnitude(Value* x);
  /// Returns x >= 0 with the sign of `sign`. (Not by copysign: LLVM would move it below a later rounding to f16, and
  /// call a library to round the sign's f64.)
  Value* with_sign(Value* x, Value* sign);
  /// Computes a * b + c, with one rounding or two.
  Value* fma(Value* a, Value* b, Value* c);
  Value* fma(Value* a, double b, Value* c) { return fma(a, constant(b), c); }
  Value* fma(Value* a, double b, double c) { return fma(a, constant(b), constant(c)); }

  /// Bounds x from above or below. A NaN stays.
  Value* at_most(Value* x, double bound);
  Value* at_least(Value* x, double bound);
  /// Selects: x < 0 ? below : other.
  Value* if_negative(Value* x, Value* below, Value* other);
  /// Returns x if x > 0, else -0. A negative NaN becomes -0.
  Value* positive_part(Value* x);
  Value* is_negative(Value* x) { return builder_.CreateFCmpOLT(x, constant(0)); }

  /// Returns `result`, a logarithm of x; for 0, infinity, negative numbers and NaNs returns their logarithm.
  Value* with_ends_of_log(Value* x, Value* result);

  /// Evaluates the polynomial of these coefficients, the constant first, by Horner's rule. If the last is 1, begins
  /// with an addition.
  Value* polynomial(std::span<const double> coefficients, Value* x);
  /// Evaluates `polynomial` as two polynomials of x^2, which do not wait for each other.
  Value* long_polynomial(std::span<const double> coefficients, Value* x);

  [[nodiscard]] Value* bits_of(Value* x) { return builder_.CreateBitCast(x, bits_type_); }
  [[nodiscard]] Value* from_bits(Value* bits) { return builder_.CreateBitCast(bits, type_); }
  [[nodiscard]] Value* bits(std::uint64_t value) const;
  [[nodiscard]] Value* sign_bit() const;
  [[nodiscard]] llvm::IRBuilder<>& builder() { return builder_; }

 private:
  [[nodiscard]] Value* loaded_constant(double value) const;
  [[nodiscard]] Value* rsqrt_seed(Value* x, bool kept);

  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  llvm::Type* bits_type_;
  const TargetFeatures& target_;
  bool folds_;
  unsigned register_lanes_;  // of registers whose constants are operands in memory; 0 if no registers have such
};

}  // namespace padlock::compiler
