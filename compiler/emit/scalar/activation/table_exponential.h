#pragma once

#include <utility>

#include "compiler/emit/scalar/activation/float_emitter.h"

namespace padlock::compiler {

/// Emits exp of f32 without f64, as a sum of two f32, on whole registers of AVX-512. A table of 32 powers of two lies
/// in registers. The result is right wherever the sum's error cannot change how it rounds: for all but 1 argument in
/// 1000.
class TableExponential {
 public:
  using Value = llvm::Value;

  /// `lanes`: number of f32 lanes.
  [[nodiscard]] static bool serves(const TargetFeatures& target, int lanes) {
    return target.mask_registers && target.fma && !target.packs_words && lanes % kLanes == 0;
  }
  TableExponential(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target)
      : f_(builder, type, target) {}

  /// Returns the results, and as a vector of i1 which of them have roundings in doubt.
  [[nodiscard]] std::pair<Value*, Value*> emit(Value* x);

 private:
  static constexpr int kLanes = 16;

  Value* looked_up(llvm::ArrayRef<float> table, Value* index);

  FloatEmitter f_;
};

}  // namespace padlock::compiler
