#pragma once

#include <cstdint>

#include "ir/dtype.h"
#include "ir/reference/scalar_ops.h"

namespace padlock::ir {

/// The sum of elements, one after the other, as the language defines the adjoint of a pad: the first term is taken as
/// it is, f16 and bf16 are added in f32 and rounded once, others in their own type, integers modulo 2^n. The caller has
/// a DefaultFpEnvironment.
class Accumulator {
 public:
  explicit Accumulator(DType type) : type_(type) {}
  void add(const Element& term);
  /// Returns the sum; 0 of no term, the term of one.
  [[nodiscard]] Element sum() const;

 private:
  DType type_;
  int terms_ = 0;  // of which only 0, 1 and more are told apart
  Element first_;
  double wide_ = 0;   // f64
  float narrow_ = 0;  // the other floats
  std::uint64_t integer_ = 0;
};

}  // namespace padlock::ir
