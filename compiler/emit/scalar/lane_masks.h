#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/scalar/target_features.h"

namespace padlock::compiler {

/// Emits the lanes of a vector for which a condition holds, as words of 32 bits. An element's bits are all one if it
/// holds, else zero.
class LaneMasks {
 public:
  LaneMasks(llvm::IRBuilder<>& builder, const TargetFeatures& target, int lanes)
      : builder_(builder), permutes_bytes_(target.permutes_bytes), lanes_(lanes) {}

  /// Returns the number of words of a vector whose elements have this many bits. Precondition: a multiple of 32 bits.
  [[nodiscard]] unsigned words(unsigned bits) const { return static_cast<unsigned>(lanes_) * bits / 32; }
  [[nodiscard]] llvm::Type* type(unsigned bits) const {
    return llvm::FixedVectorType::get(builder_.getInt32Ty(), words(bits));
  }
  /// Emits the lanes [first, end), both i32 in [0, lanes]; with other bounds the mask is undefined.
  [[nodiscard]] llvm::Value* range(llvm::Value* first, llvm::Value* end, unsigned bits);
  /// Emits a in the lanes [first, end), which are as for `range`, else b. Both are vectors of words.
  [[nodiscard]] llvm::Value* choose_range(llvm::Value* first, llvm::Value* end, llvm::Value* a, llvm::Value* b,
                                          unsigned bits);
  /// Emits whether a lane is in [first, end), both i32.
  [[nodiscard]] llvm::Value* holds(llvm::Value* first, llvm::Value* end, unsigned lane);
  /// Returns a where the mask is set, else b; all have the same type.
  [[nodiscard]] llvm::Value* choose(llvm::Value* mask, llvm::Value* a, llvm::Value* b) {
    return builder_.CreateOr(builder_.CreateAnd(a, mask), builder_.CreateAnd(b, builder_.CreateNot(mask)));
  }

 private:
  [[nodiscard]] llvm::Value* tops_below(llvm::Value* bound, unsigned bits, unsigned first_lane);

  llvm::IRBuilder<>& builder_;
  bool permutes_bytes_;
  int lanes_;
};

}  // namespace padlock::compiler
