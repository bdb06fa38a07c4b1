#pragma once

#include <span>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/scalar/target_features.h"

namespace padlock::compiler {

/// Emits IEEE arithmetic on values of f64 or f32 (scalars, or vectors of one length), each operation rounded by itself.
/// Nothing is contracted but by `fma`, and nothing calls a library.
class FloatEmitter {
 public:
  using Value = llvm::Value;

  /// `type`: f64, f32 or a vector of one. A target without fused multiply-adds rounds a product before it is added.
  /// `folds`: the values are constants, and the assembler shall compute with them: so a GPU loads and approximates
  /// nothing.
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
  /// Divides numbers of f64 whose exponents, like the quotient's, are far from the ends; NaNs, too. Rounded as by
  /// `div`. A GPU's own division takes a branch more, for others.
  Value* quotient(Value* a, Value* b);
  Value* sqrt(Value* x);
  /// Divides a number by f32. A GPU refines an approximate reciprocal by two fused steps, so that the quotient of
  /// normal numbers may be a unit off; the others round once.
  Value* near_quotient(double a, Value* b);
  /// Computes 1 / sqrt(x), of f32 to 2^-21 or better, of f64 to 2^-52: of 0 and infinity, too, and of subnormals of f32
  /// if they are `kept`.
  Value* near_rsqrt(Value* x, bool kept);
  Value* magnitude(Value* x);
  /// Gives x, which is none that is negative, the sign of another. (Not by copysign: LLVM would move it below a later
  /// rounding to f16, and call a library to round the sign's f64.)
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
  /// Gives x where it is above zero, and else -0. No NaN stays that is negative.
  Value* positive_part(Value* x);
  Value* is_negative(Value* x) { return builder_.CreateFCmpOLT(x, constant(0)); }

  /// Returns a logarithm of x, or what it is of 0, of infinity, of negative numbers and of a NaN.
  Value* with_ends_of_log(Value* x, Value* result);

  /// Evaluates the polynomial of these coefficients, the constant first, by Horner's rule: one whose last is 1 begins
  /// with an addition.
  Value* polynomial(std::span<const double> coefficients, Value* x);
  /// Evaluates the same as two polynomials of x^2, which do not wait for each other.
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
  unsigned register_lanes_;  // of a register whose constants are operands in memory; 0 where none are
};

}  // namespace padlock::compiler
