#pragma once

#include <cstdint>

#include "compiler/pass_edits.h"

namespace padlock::activation {

/// Moves each approximation by a number of units in its last place (for f64 in that of its high word), starting from
/// the value nearest to the real one. Approximations are quotients of 1 in the code of a GPU's twin, and seeds of
/// reciprocal square roots in a CPU's.
class MovedSeed final : public compiler::PassEdits {
 public:
  explicit MovedSeed(std::int32_t units) : units_(units) {}
  void emitted(llvm::Module& module) const override;
  /// Returns how many the last compilation moved.
  [[nodiscard]] int moved() const { return moved_; }

 private:
  std::int32_t units_;
  mutable int moved_ = 0;  // for one compilation at a time
};

}  // namespace padlock::activation
