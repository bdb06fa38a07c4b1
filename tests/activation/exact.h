#pragma once

#include <cstdint>
#include <memory>

#include "ir/operation.h"

// What the activations are judged by. It shares nothing with the code that is emitted for them, nor with the reference.
namespace padlock::activation {

/// Judge computes the real functions, rounded once to f32. Not thread-safe: each thread has its own.
class Judge {
 public:
  Judge();
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Asks, of an `op` of the class OpClass::activation, the C library's functions of f64, and MPFR where their result
  /// lies so near a tie of f32 that their error could hide on which side.
  [[nodiscard]] float value(ir::Op op, float x);
  /// Asks MPFR alone.
  [[nodiscard]] float exact(ir::Op op, float x);

  [[nodiscard]] std::int64_t asked_mpfr() const { return asked_mpfr_; }

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
  std::int64_t asked_mpfr_ = 0;
};

}  // namespace padlock::activation
