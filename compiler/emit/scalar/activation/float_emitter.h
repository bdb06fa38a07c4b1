#pragma once

#include <span>

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Emits IEEE arithmetic on values of f64 (scalars, or vectors of one length), each operation rounded by itself.
/// Nothing is contracted but by `fma`, and nothing calls a library.
class FloatEmitter {
 public:
  using Value = llvm::Value;

  /// `type`: f64 or a vector of it. Where `has_fma` is false, a product is rounded before it is added.
  /// `register_lanes`: of the registers whose constants are operands in memory, a power of two; 0 where none are.
  FloatEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, bool has_fma, unsigned register_lanes)
      : builder_(builder), type_(type), has_fma_(has_fma), register_lanes_(register_lanes) {}

  [[nodiscard]] bool has_fma() const { return has_fma_; }
  [[nodiscard]] Value* constant(double value) const;
  Value* add(Value* a, Value* b) { return builder_.CreateFAdd(a, b); }
  Value* add(Value* a, double b) { return add(a, constant(b)); }
  Value* sub(Value* a, Value* b) { return builder_.CreateFSub(a, b); }
  Value* mul(Value* a, Value* b) { return builder_.CreateFMul(a, b); }
  Value* mul(Value* a, double b) { return mul(a, constant(b)); }
  Value* div(Value* a, Value* b) { return builder_.CreateFDiv(a, b); }
  Value* sqrt(Value* x);
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
  Value* is_negative(Value* x) { return builder_.CreateFCmpOLT(x, constant(0)); }

  /// Evaluates the polynomial of these coefficients, the constant first, by Horner's rule: one whose last is 1 begins
  /// with an addition.
  Value* polynomial(std::span<const double> coefficients, Value* x);
  /// Evaluates the same as two polynomials of x^2, which do not wait for each other.
  Value* long_polynomial(std::span<const double> coefficients, Value* x);

  [[nodiscard]] Value* bits_of(Value* x);
  [[nodiscard]] Value* from_bits(Value* bits) { return builder_.CreateBitCast(bits, type_); }
  [[nodiscard]] Value* bits(std::uint64_t value) const;
  [[nodiscard]] llvm::IRBuilder<>& builder() { return builder_; }

 private:
  [[nodiscard]] Value* loaded_constant(double value) const;

  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  bool has_fma_;
  unsigned register_lanes_;
};

}  // namespace padlock::compiler
