#pragma once

#include <cstdint>

#include "ir/dtype.h"
#include "ir/reference/scalar_ops.h"

namespace padlock::ir {

/// Adds elements one by one, as the language defines the adjoint of a pad. The first term is taken unchanged. f16 and
/// bf16 are added in f32 and rounded once, other types in their own, integers modulo 2^n. Precondition: the caller has
/// a DefaultFpEnvironment.
class Accumulator {
 public:
  explicit Accumulator(DType type) : type_(type) {}
  void add(const Element& term);
  /// Returns the sum; 0 without terms, and the term itself if there is one.
  [[nodiscard]] Element sum() const;

 private:
  DType type_;
  int terms_ = 0;  // 0, 1, or 2 for more
  Element first_;
  double wide_ = 0;   // f64
  float narrow_ = 0;  // the other floats
  std::uint64_t integer_ = 0;
};

}  // namespace padlock::ir
