#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/emit/scalar/activation/half_functions.h"
#include "ir/dtype.h"

// The emitted activations of f16 and bf16, one element at a time: the search for coefficients computes with them.
// (Compiled without contraction.)
namespace padlock::activation::search {

/// A target's way of computing.
struct Way {
  bool fused = true;     ///< multiply-adds round once
  bool refines = false;  ///< divides by a reciprocal that is off by a number of units
  std::int32_t units = 0;
};

/// The function and the type of a search.
struct Kind {
  ir::Op op;
  ir::DType dtype;
  [[nodiscard]] bool is_f16() const { return dtype == ir::DType::f16; }
};

/// Computes one activation in one Way. A polynomial may be replaced by a value, and then reports its argument.
class Model {
 public:
  using Function = compiler::activation::HalfFunction;

  Model(Kind kind, float least, float most) : kind_(kind), least_(least), most_(most) {}

  /// `coefficients`: those of E, P and Q, `counts` of each. Borrowed.
  void take(std::span<const float> coefficients, std::array<std::size_t, 3> counts) {
    polynomials_[0] = coefficients.first(counts[0]);
    polynomials_[1] = coefficients.subspan(counts[0], counts[1]);
    polynomials_[2] = coefficients.subspan(counts[0] + counts[1], counts[2]);
  }
  /// Replaces polynomial `number` by this value everywhere; a negative number: none.
  void replace(int number, float value) {
    replaced_ = number;
    value_ = value;
  }
  /// Returns the last argument of the replaced polynomial.
  [[nodiscard]] float asked_at() const { return asked_at_; }
  /// Evaluates one as the code does.
  [[nodiscard]] float polynomial(int number, float z) const;
  [[nodiscard]] float operator()(float x, Way way) const;

 private:
  struct Reduced {
    float rest, shifted;
  };

  [[nodiscard]] float fma(float a, float b, float c) const { return way_.fused ? std::fma(a, b, c) : a * b + c; }
  [[nodiscard]] float horner(std::span<const float> c, std::size_t first, std::size_t step, float z) const;
  [[nodiscard]] float asked(int number, float z) const;
  [[nodiscard]] Reduced reduce(float x, float scale, int bias) const;
  [[nodiscard]] float less_multiple(float k, float step, float from) const;
  [[nodiscard]] float quotient(float a, float b) const;
  [[nodiscard]] float logistic(Reduced reduced, float numerator) const;
  [[nodiscard]] float scaled(float value, float shifted) const;
  [[nodiscard]] float gelu(float x) const;
  [[nodiscard]] float gelu_tanh(float x) const;
  [[nodiscard]] float log(float x) const;
  [[nodiscard]] float at_most(float x) const { return most_ < x ? most_ : x; }
  [[nodiscard]] float at_least(float x) const { return least_ > x ? least_ : x; }
  [[nodiscard]] float bounded(float x) const { return at_least(at_most(x)); }
  [[nodiscard]] int logistic_bias() const { return kind_.is_f16() ? 127 : 107; }

  Kind kind_;
  float least_, most_;
  std::array<std::span<const float>, 3> polynomials_;
  int replaced_ = -1;
  float value_ = 0;
  mutable float asked_at_ = 0;
  mutable Way way_;
};

}  // namespace padlock::activation::search
