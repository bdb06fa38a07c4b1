#include "compiler/llvm/emit/grid/vector_words.h"

#include <algorithm>

namespace padlock::compiler {

using llvm::Value;

std::vector<llvm::Type*> word_types_of(llvm::IRBuilder<>& builder, llvm::Type* vector) {
  const auto bits = static_cast<unsigned>(vector->getPrimitiveSizeInBits().getFixedValue());
  std::vector<llvm::Type*> types;
  types.assign(std::max(1U, bits / 32), builder.getIntNTy(std::min(bits, 32U)));
  return types;
}

std::vector<Value*> words_of(llvm::IRBuilder<>& builder, Value* vector) {
  const std::vector<llvm::Type*> types = word_types_of(builder, vector->getType());
  if (types.size() == 1) return {builder.CreateBitCast(vector, types[0])};
  Value* all = builder.CreateBitCast(vector, llvm::FixedVectorType::get(types[0], static_cast<unsigned>(types.size())));
  std::vector<Value*> words;
  for (std::uint64_t i = 0; i < types.size(); ++i) words.push_back(builder.CreateExtractElement(all, i));
  return words;
}

Value* vector_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> words, llvm::Type* type) {
  if (words.size() == 1) return builder.CreateBitCast(words[0], type);
  auto* all_type = llvm::FixedVectorType::get(words[0]->getType(), static_cast<unsigned>(words.size()));
  Value* all = llvm::PoisonValue::get(all_type);
  for (std::uint64_t i = 0; i < words.size(); ++i) all = builder.CreateInsertElement(all, words[i], i);
  return builder.CreateBitCast(all, type);
}

Value* first_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> words, int bytes) {
  if (bytes < 8) return builder.CreateZExtOrTrunc(words[0], builder.getIntNTy(static_cast<unsigned>(8 * bytes)));
  Value* high = builder.CreateShl(builder.CreateZExt(words[1], builder.getInt64Ty()), 32);
  return builder.CreateOr(builder.CreateZExt(words[0], builder.getInt64Ty()), high);
}

std::vector<Value*> shifted_in(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> words, Value* element) {
  llvm::Type* word = words[0]->getType();
  const unsigned bits = element->getType()->getIntegerBitWidth();
  std::vector<Value*> all(words.begin(), words.end());
  all.push_back(builder.CreateZExtOrTrunc(element, word));
  if (bits == 64) all.push_back(builder.CreateTrunc(builder.CreateLShr(element, 32), word));
  if (bits >= word->getIntegerBitWidth()) return {all.end() - static_cast<std::ptrdiff_t>(words.size()), all.end()};
  std::vector<Value*> moved;
  for (std::size_t i = 0; i < words.size(); ++i)
    moved.push_back(builder.CreateIntrinsic(llvm::Intrinsic::fshr, {word},
                                            {all[i + 1], all[i], llvm::ConstantInt::get(word, bits)}));
  return moved;
}

}  // namespace padlock::compiler
