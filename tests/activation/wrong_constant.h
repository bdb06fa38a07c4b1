#pragma once

#include <set>

#include "compiler/pass_edits.h"
#include "ir/dtype.h"

namespace padlock::activation {

/// Collects the constants of one type, f64 or f32, that code computes with, except 0, infinities and NaNs.
class ConstantsOfCode final : public compiler::PassEdits {
 public:
  explicit ConstantsOfCode(ir::DType dtype) : dtype_(dtype) {}
  void emitted(llvm::Module& module) const override;
  [[nodiscard]] const std::set<double>& constants() const { return constants_; }

 private:
  ir::DType dtype_;
  mutable std::set<double> constants_;  // for one compilation at a time
};

/// Seeds a bug: replaces one constant of a type by another number everywhere.
class WrongConstant final : public compiler::PassEdits {
 public:
  WrongConstant(ir::DType dtype, double right, double wrong) : dtype_(dtype), right_(right), wrong_(wrong) {}
  void emitted(llvm::Module& module) const override;

 private:
  ir::DType dtype_;
  double right_, wrong_;
};

}  // namespace padlock::activation
