#include "compiler/emit/scalar/vector_shift.h"

#include <vector>

namespace padlock::compiler {

using llvm::Value;

llvm::Type* VectorShift::type() const {
  if (bytes_ <= 4) return builder_.getIntNTy(8 * bytes_);
  return llvm::FixedVectorType::get(builder_.getInt32Ty(), bytes_ / 4);
}

/// By halves of the vector, quarters, ... down to words: each is a selection. What is left is less than a word, a
/// funnel shift.
Value* VectorShift::shifted(Value* low, Value* high, Value* shift) const {
  llvm::Type* i32 = builder_.getInt32Ty();
  if (bytes_ < 4) {
    Value* both = builder_.CreateOr(builder_.CreateZExt(low, i32),
                                    builder_.CreateShl(builder_.CreateZExt(high, i32), std::uint64_t{8} * bytes_));
    return builder_.CreateTrunc(builder_.CreateLShr(both, builder_.CreateShl(shift, 3)), type());
  }
  std::vector<Value*> words;
  for (Value* vector : {low, high}) {
    if (bytes_ == 4) words.push_back(vector);
    for (std::uint64_t i = 0; bytes_ > 4 && i < bytes_ / 4; ++i)
      words.push_back(builder_.CreateExtractElement(vector, i));
  }
  for (unsigned step = bytes_ / 8; step > 0 && step * 4 >= static_cast<unsigned>(granularity_); step /= 2) {
    Value* moves = builder_.CreateICmpNE(builder_.CreateAnd(shift, builder_.getInt32(4 * step)), builder_.getInt32(0));
    for (std::size_t i = 0; i + step < words.size(); ++i)
      words[i] = builder_.CreateSelect(moves, words[i + step], words[i]);
    words.resize(words.size() - step);
  }
  if (granularity_ < 4) {
    // The amount is taken modulo 32.
    Value* bits = builder_.CreateShl(shift, 3);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      words[i] = builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {i32}, {words[i + 1], words[i], bits});
  }
  if (bytes_ == 4) return words[0];
  Value* made = llvm::PoisonValue::get(type());
  for (std::uint64_t i = 0; i < bytes_ / 4; ++i) made = builder_.CreateInsertElement(made, words[i], i);
  return made;
}

}  // namespace padlock::compiler
