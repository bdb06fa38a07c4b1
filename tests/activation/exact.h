#pragma once

#include <cstdint>
#include <memory>

#include "ir/operation.h"

// The judge of the activations. It shares nothing with their emitted code or with the reference.
namespace padlock::activation {

/// Computes the real functions, rounded once to f32. Not thread-safe: each thread has its own.
class Judge {
 public:
  Judge();
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Uses the C library's functions of f64, and MPFR if their result lies so near a tie of f32 that their error could
  /// decide it. `op` has the class OpClass::activation.
  [[nodiscard]] float value(ir::Op op, float x);
  /// Uses MPFR alone.
  [[nodiscard]] float exact(ir::Op op, float x);

  [[nodiscard]] std::int64_t asked_mpfr() const { return asked_mpfr_; }

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
  std::int64_t asked_mpfr_ = 0;
};

}  // namespace padlock::activation
