#pragma once

#include <set>

#include "compiler/pass_edits.h"

namespace padlock::activation {

/// Collects the f64 constants that code computes with, but for 0 and what is not finite.
class ConstantsOfCode final : public compiler::PassEdits {
 public:
  void emitted(llvm::Module& module) const override;
  [[nodiscard]] const std::set<double>& constants() const { return constants_; }

 private:
  mutable std::set<double> constants_;  // of one compilation at a time
};

/// Seeds a bug: one f64 constant is another number wherever it stands.
class WrongConstant final : public compiler::PassEdits {
 public:
  WrongConstant(double right, double wrong) : right_(right), wrong_(wrong) {}
  void emitted(llvm::Module& module) const override;

 private:
  double right_, wrong_;
};

}  // namespace padlock::activation
