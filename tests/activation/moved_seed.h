#pragma once

#include <cstdint>

#include "compiler/pass_edits.h"

namespace padlock::activation {

/// Moves each approximation by so many units in its last place, of f64 in that of its high word, beginning with the
/// value that is nearest to the real one: quotients of 1 in the code of a GPU's twin, and seeds of reciprocal square
/// roots in a CPU's.
class MovedSeed final : public compiler::PassEdits {
 public:
  explicit MovedSeed(std::int32_t units) : units_(units) {}
  void emitted(llvm::Module& module) const override;
  /// How many were moved by the last compilation.
  [[nodiscard]] int moved() const { return moved_; }

 private:
  std::int32_t units_;
  mutable int moved_ = 0;  // of one compilation at a time
};

}  // namespace padlock::activation
