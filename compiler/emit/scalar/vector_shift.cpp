#include "compiler/emit/scalar/vector_shift.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace padlock::compiler {

using llvm::Value;

llvm::Type* VectorShift::type() const {
  if (bytes_ <= 4) return builder_.getIntNTy(8 * bytes_);
  return llvm::FixedVectorType::get(builder_.getInt32Ty(), bytes_ / 4);
}

/// Selects halves of the vector, then quarters, ... down to words. A funnel shift does the rest, less than a word.
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
    // Funnel shifts take the amount modulo 32.
    Value* bits = builder_.CreateShl(shift, 3);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      words[i] = builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {i32}, {words[i + 1], words[i], bits});
  }
  if (bytes_ == 4) return words[0];
  Value* made = llvm::PoisonValue::get(type());
  for (std::uint64_t i = 0; i < bytes_ / 4; ++i) made = builder_.CreateInsertElement(made, words[i], i);
  return made;
}

namespace {

/// Emits a word of four bytes from two words. Each 4-bit digit of the selector is the number of a byte, those of `b`
/// from 4 on.
Value* chosen_bytes(llvm::IRBuilder<>& builder, Value* a, Value* b, std::uint32_t selector, bool on_gpu) {
  if (on_gpu) return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {}, {a, b, builder.getInt32(selector)});
  llvm::Type* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(), 4);
  std::vector<int> mask;
  for (int i = 0; i < 4; ++i) mask.push_back(static_cast<int>(selector >> (4 * i) & 7));
  Value* chosen = builder.CreateShuffleVector(builder.CreateBitCast(a, bytes), builder.CreateBitCast(b, bytes), mask);
  return builder.CreateBitCast(chosen, builder.getInt32Ty());
}

/// Selectors for the first halves of two words, and for the last halves.
constexpr std::uint32_t kFirstHalves = 0x5410, kLastHalves = 0x7632;
/// Selectors for bytes 0 and 1 of two words in turn; for bytes 2 and 3.
constexpr std::uint32_t kFirstBytes = 0x5140, kLastBytes = 0x7362;

std::vector<Value*> turned_halves(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> x, bool on_gpu) {
  return {chosen_bytes(builder, x[0], x[1], kFirstHalves, on_gpu),
          chosen_bytes(builder, x[0], x[1], kLastHalves, on_gpu)};
}

/// Turns pairs of words, then halves of those.
std::vector<Value*> turned_bytes(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> x, bool on_gpu) {
  std::vector<Value*> all;
  for (const std::uint32_t bytes : {kFirstBytes, kLastBytes}) {
    Value* first = chosen_bytes(builder, x[0], x[1], bytes, on_gpu);
    Value* last = chosen_bytes(builder, x[2], x[3], bytes, on_gpu);
    for (Value* word : turned_halves(builder, {first, last}, on_gpu)) all.push_back(word);
  }
  return all;
}

std::vector<Value*> turned_elements(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> vectors) {
  std::vector<Value*> all;
  for (std::uint64_t j = 0; j < vectors.size(); ++j) {
    Value* made = llvm::PoisonValue::get(vectors[0]->getType());
    for (std::uint64_t i = 0; i < vectors.size(); ++i)
      made = builder.CreateInsertElement(made, builder.CreateExtractElement(vectors[i], j), i);
    all.push_back(made);
  }
  return all;
}

}  // namespace

std::vector<Value*> turned(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> vectors, bool on_gpu) {
  if (vectors.size() == 1) return {vectors[0]};
  llvm::Type* type = vectors[0]->getType();
  if (type->getPrimitiveSizeInBits() != 32) return turned_elements(builder, vectors);
  std::vector<Value*> words;
  for (Value* vector : vectors) words.push_back(builder.CreateBitCast(vector, builder.getInt32Ty()));
  words = words.size() == 2 ? turned_halves(builder, words, on_gpu) : turned_bytes(builder, words, on_gpu);
  for (Value*& word : words) word = builder.CreateBitCast(word, type);
  return words;
}

}  // namespace padlock::compiler
