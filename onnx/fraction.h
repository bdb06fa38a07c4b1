#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"
#include "onnx/size_math.h"
#include "support/error.h"

namespace padlock::onnx {

/// A size that a float type holds exactly up to the magnitude `most`.
struct FloatBound {
  Expr size;
  std::int64_t most = 0;
};

/// A float that a model computes from sizes: numerator / denominator. Exporters compute sizes in floats, as
/// ceil(float(W) / 32). If every step is exact, integer arithmetic gives the same size.
struct Fraction {
  Expr numerator;
  std::int64_t denominator = 1;  ///< positive; a power of two, unless the float is rounded
  /// The float is the quotient rounded once, to nearest. It lies strictly between two integers if the quotient does:
  /// rounding moves it by at most |numerator| / denominator / 2^digits, which is below 1 / denominator.
  bool is_rounded = false;
  std::vector<FloatBound> bounds;  ///< of all of its steps; within them the fraction is exact
};

/// Arithmetic on fractions of one float type. Errors of all functions: refused, with the step, if it may be rounded.
class FractionMath {
 public:
  FractionMath(SizeMath& sizes, ir::DType dtype) : sizes_(sizes), dtype_(dtype) {}

  [[nodiscard]] Result<Fraction> from_size(Expr size) const;
  /// `number` is finite and of a float type.
  [[nodiscard]] Result<Fraction> from_constant(const ir::Scalar& number) const;
  /// Converts from another float type.
  [[nodiscard]] Result<Fraction> convert(const Fraction& a) const;
  [[nodiscard]] Result<Fraction> add(const Fraction& a, const Fraction& b) const;
  [[nodiscard]] Result<Fraction> sub(const Fraction& a, const Fraction& b) const;
  [[nodiscard]] Result<Fraction> mul(const Fraction& a, const Fraction& b) const;
  /// `b` is a constant.
  [[nodiscard]] Result<Fraction> div(const Fraction& a, const Fraction& b) const;
  [[nodiscard]] Result<Fraction> min(const Fraction& a, const Fraction& b) const;
  [[nodiscard]] Result<Fraction> max(const Fraction& a, const Fraction& b) const;
  [[nodiscard]] Result<Fraction> neg(const Fraction& a) const;
  [[nodiscard]] Result<Fraction> abs(const Fraction& a) const;
  // These three return integers and accept rounded fractions.
  [[nodiscard]] Result<Fraction> floor(const Fraction& a) const;
  [[nodiscard]] Result<Fraction> ceil(const Fraction& a) const;
  /// Rounds towards zero, and adds the bounds to the program's guards.
  [[nodiscard]] Result<Expr> truncate(const Fraction& a) const;

 private:
  /// Makes a fraction with the bounds of its steps and its own.
  [[nodiscard]] Result<Fraction> make(Expr numerator, std::int64_t denominator, std::vector<FloatBound> bounds) const;
  [[nodiscard]] Status check_exact(const Fraction& a) const;
  [[nodiscard]] Expr scaled(const Fraction& a, std::int64_t denominator) const;
  [[nodiscard]] Result<Fraction> extreme(const Fraction& a, const Fraction& b,
                                         Expr (SizeMath::*function)(Expr, Expr)) const;
  [[nodiscard]] Result<Fraction> whole(Expr number, const Fraction& from) const;
  [[nodiscard]] std::string text(const Fraction& a) const;

  SizeMath& sizes_;
  ir::DType dtype_;
};

/// Adds the bounds to the program's guards. Error: refused if one never holds.
[[nodiscard]] Status require(SizeMath& sizes, const std::vector<FloatBound>& bounds);

}  // namespace padlock::onnx
