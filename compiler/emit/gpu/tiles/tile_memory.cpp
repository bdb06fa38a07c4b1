#include "compiler/emit/gpu/tiles/tile_memory.h"

namespace padlock::compiler {
namespace {

// The lowest bit of a stamp. The other bits are the thread's number plus one.
constexpr std::uint32_t kAfterBarrier = 1;

}  // namespace

Access TileMemory::access_of(int array, Value* word, Value* lane, ir::DType dtype) {
  const int size = ir::byte_size(dtype);
  const int each = tile_.word_bytes / size;
  Value* first = builder_.CreateAdd(word, vector_.index(std::int64_t{array} * tile_.array_words()));
  first = builder_.CreateAdd(builder_.CreateMul(first, vector_.index(each)), lane);
  return {.pointer = vector_.shared, .dtype = dtype, .first = first, .align = static_cast<unsigned>(size)};
}

Value* TileMemory::stamp_of(int array, Value* word, Value* lane) {
  Value* element = builder_.CreateAdd(word, vector_.index(std::int64_t{array} * tile_.array_words()));
  element = builder_.CreateAdd(builder_.CreateMul(element, vector_.index(tile_.lanes)), lane);
  Value* stamps = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), vector_.shared,
                                              static_cast<std::uint64_t>(tile_.shared_bytes()));
  return builder_.CreateGEP(builder_.getInt32Ty(), stamps, element);
}

Value* TileMemory::is_own(Value* stamp) {
  Value* thread = builder_.CreateZExtOrTrunc(thread_, builder_.getInt32Ty());
  return builder_.CreateICmpEQ(builder_.CreateLShr(builder_.CreateSub(stamp, builder_.getInt32(1)), 1), thread);
}

/// Makes the access a fault if the condition does not hold.
void TileMemory::require(Access& access, Value* condition) {
  const int elements = tile_.array_count * tile_.array_words() * tile_.word_bytes / ir::byte_size(access.dtype);
  access.extent =
      builder_.CreateSelect(condition, builder_.getInt64(static_cast<std::uint64_t>(elements)), builder_.getInt64(0));
  access.name = builder_.getInt64(vector_.context.abi.accesses.size() - 1);
}

/// Emits whether an element was written before the barrier, or by this thread.
Value* TileMemory::may_load(int array, Value* word, Value* lane) {
  Value* stamp = builder_.CreateLoad(builder_.getInt32Ty(), stamp_of(array, word, lane), "stamp");
  Value* written = builder_.CreateICmpNE(stamp, builder_.getInt32(0));
  Value* side = builder_.CreateAnd(builder_.CreateSub(stamp, builder_.getInt32(1)), builder_.getInt32(kAfterBarrier));
  Value* before = builder_.CreateICmpULT(side, vector_.interval);
  return builder_.CreateAnd(written, builder_.CreateOr(before, is_own(stamp)));
}

/// Stamps an element as this thread's. Emits whether no other thread had stamped it.
Value* TileMemory::claim(int array, Value* word, Value* lane) {
  Value* at = stamp_of(array, word, lane);
  Value* stamp = builder_.CreateLoad(builder_.getInt32Ty(), at, "stamp");
  Value* thread = builder_.CreateZExtOrTrunc(thread_, builder_.getInt32Ty());
  Value* own = builder_.CreateAdd(builder_.CreateShl(thread, 1), builder_.getInt32(1));
  builder_.CreateStore(builder_.CreateAdd(own, vector_.interval), at);
  return builder_.CreateOr(builder_.CreateICmpEQ(stamp, builder_.getInt32(0)), is_own(stamp));
}

Value* TileMemory::load(int array, Value* word, Value* lane, ir::DType dtype) {
  Access access = access_of(array, word, lane, dtype);
  if (vector_.interval != nullptr) require(access, may_load(array, word, lane));
  return accesses_.load(access, builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(dtype))));
}

void TileMemory::store(int array, Value* word, Value* lane, ir::DType dtype, Value* value) {
  Access access = access_of(array, word, lane, dtype);
  if (vector_.interval != nullptr) require(access, claim(array, word, lane));
  accesses_.store(access, value, StoreHint::none);
}

Access TileMemory::word_access(int array, Value* word, std::int64_t later, ir::DType dtype) {
  llvm::Type* type = builder_.getIntNTy(8 * static_cast<unsigned>(tile_.word_bytes));
  const int each = tile_.word_bytes / ir::byte_size(dtype);
  Value* at = builder_.CreateSExt(word, builder_.getInt64Ty());
  return {.pointer = builder_.CreateGEP(type, vector_.shared, at),
          .dtype = dtype,
          .first = builder_.getInt64(0),
          .displacement = (std::int64_t{array} * tile_.array_words() + later) * each,
          .origin = builder_.CreateMul(at, builder_.getInt64(static_cast<std::uint64_t>(each))),
          .elements = tile_.lanes,
          .align = static_cast<unsigned>(tile_.lanes * ir::byte_size(dtype))};
}

void TileMemory::store_word(int array, Value* word, std::int64_t later, ir::DType dtype, Value* value) {
  Access access = word_access(array, word, later, dtype);
  if (vector_.interval != nullptr) {
    Value* all = builder_.getTrue();
    for (int i = 0; i < tile_.lanes; ++i)
      all = builder_.CreateAnd(all, claim(array, word, vector_.index(later * tile_.lanes + i)));
    require(access, all);
  }
  accesses_.store(access, value, StoreHint::none);
}

/// Elements that begin no word are the last of one word and the first of the next. The word after the last is loaded
/// even if the vector needs none of it: the array has that word, and a test would cost more.
std::vector<Value*> TileMemory::load_vector(int array, Value* word, std::int64_t later, Value* lane, ir::DType dtype,
                                            llvm::ArrayRef<Value*> needed) {
  const int count = tile_.vector_words() + (lane != nullptr ? 1 : 0);
  llvm::Type* type = builder_.getIntNTy(8 * static_cast<unsigned>(tile_.lanes * ir::byte_size(dtype)));
  std::vector<Value*> words;
  for (int i = 0; i < count; ++i) {
    Access access = word_access(array, word, later + i, dtype);
    if (vector_.interval != nullptr && i == 0)
      require(access, may_load_vector(array, word, later * tile_.lanes, lane, needed));
    words.push_back(accesses_.load(access, type));
  }
  if (lane == nullptr) return words;
  Value* bits = builder_.CreateMul(lane, vector_.index(8 * std::int64_t{ir::byte_size(dtype)}));
  bits = builder_.CreateZExtOrTrunc(bits, type);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    words[i] = builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {type}, {words[i + 1], words[i], bits});
  words.pop_back();
  return words;
}

/// Emits whether the needed elements of a vector may be loaded.
Value* TileMemory::may_load_vector(int array, Value* word, std::int64_t first, Value* lane,
                                   llvm::ArrayRef<Value*> needed) {
  Value* all = builder_.getTrue();
  for (int i = 0; i < tile_.vector_elements(); ++i) {
    Value* at = vector_.index(first + i);
    Value* may = may_load(array, word, lane == nullptr ? at : builder_.CreateAdd(lane, at));
    if (!needed.empty()) may = builder_.CreateOr(may, builder_.CreateNot(needed[static_cast<std::size_t>(i)]));
    all = builder_.CreateAnd(all, may);
  }
  return all;
}

}  // namespace padlock::compiler
