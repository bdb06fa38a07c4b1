#include "compiler/emit/gpu/vector_grid/shared_memory.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

constexpr std::uint32_t kTwice = ~0U;  // the stamp of what was written twice

}  // namespace

/// Emits the number of bytes that the launch asked for, as i32.
Value* SharedMemory::bytes() const { return builder_.CreateTrunc(vector_.exprs.word(bytes_), builder_.getInt32Ty()); }

Value* SharedMemory::stamp_of(Value* at) {
  Value* stamps =
      builder_.CreateGEP(builder_.getInt8Ty(), memory_, builder_.CreateZExt(bytes(), builder_.getInt64Ty()));
  return builder_.CreateGEP(builder_.getInt32Ty(), stamps, builder_.CreateSExt(at, builder_.getInt64Ty()));
}

Value* SharedMemory::first() {
  return has_stamps() ? builder_.getInt32(0) : builder_.CreatePtrToInt(memory_, builder_.getInt32Ty());
}

/// An address is one value: what is the same in all turns of a loop is added once, before it.
Access SharedMemory::access_of(Value* at, int size) {
  Access access{.pointer = memory_,
                .dtype = ir::DType::u8,
                .first = at,
                .elements = size,
                .align = static_cast<unsigned>(std::min(size, 16))};
  if (!has_stamps()) {
    access.pointer = builder_.CreateIntToPtr(at, memory_->getType());
    access.first = builder_.getInt32(0);
    return access;
  }
  access.extent = builder_.CreateZExt(bytes(), builder_.getInt64Ty());
  access.name = builder_.getInt64(vector_.context.abi.accesses.size() - 1);
  access.align = 1;
  return access;
}

/// Claims the bytes: emits whether all of them are the block's, and none has been written.
Value* SharedMemory::claim(Value* at, int size, std::uint32_t mark) {
  Value* end = builder_.CreateAdd(at, builder_.getInt32(static_cast<std::uint32_t>(size)));
  Value* inside = builder_.CreateICmpULE(end, bytes());
  Value* now = builder_.CreateAdd(vector_.interval, builder_.getInt32(1 + mark));
  Value* all = inside;
  vector_.when(inside, [&] {
    // Stamps each byte with the interval, or as written twice.
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(size); ++i) {
      Value* stamp = stamp_of(builder_.CreateAdd(at, builder_.getInt32(i)));
      Value* before = builder_.CreateLoad(builder_.getInt32Ty(), stamp);
      Value* first = builder_.CreateICmpEQ(before, builder_.getInt32(0));
      builder_.CreateStore(builder_.CreateSelect(first, now, builder_.getInt32(kTwice)), stamp);
    }
  });
  Value* from = builder_.CreateSelect(inside, at, builder_.getInt32(0));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(size); ++i) {
    Value* stamp = builder_.CreateLoad(builder_.getInt32Ty(), stamp_of(builder_.CreateAdd(from, builder_.getInt32(i))));
    all = builder_.CreateAnd(all, builder_.CreateICmpEQ(stamp, now));
  }
  return all;
}

void SharedMemory::store(Value* at, Value* value, std::uint32_t mark) {
  const llvm::DataLayout& layout = builder_.GetInsertBlock()->getModule()->getDataLayout();
  const auto size = static_cast<int>(layout.getTypeStoreSize(value->getType()).getFixedValue());
  Access access = access_of(at, size);
  if (has_stamps()) access.extent = builder_.CreateSelect(claim(at, size, mark), access.extent, builder_.getInt64(0));
  accesses_.store(access, value, StoreHint::none);
}

Value* SharedMemory::is_written(Value* at, int size) {
  if (!has_stamps()) return builder_.getTrue();
  Value* end = builder_.CreateAdd(at, builder_.getInt32(static_cast<std::uint32_t>(size)));
  Value* inside =
      builder_.CreateAnd(builder_.CreateICmpSGE(at, builder_.getInt32(0)), builder_.CreateICmpSLE(end, bytes()));
  // If the access is not inside, reads the first bytes, so that the test itself stays in memory.
  Value* from = builder_.CreateSelect(inside, at, builder_.getInt32(0));
  Value* all = inside;
  // A stamp with a mark is more than any interval, too, until the copies have ended.
  Value* ended = waited_ == nullptr ? builder_.getFalse() : waited_;
  Value* stays = builder_.CreateSelect(ended, builder_.getInt32(~kInBulk), builder_.getInt32(~0U));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(size); ++i) {
    Value* stamp = builder_.CreateLoad(builder_.getInt32Ty(), stamp_of(builder_.CreateAdd(from, builder_.getInt32(i))));
    Value* before = builder_.CreateICmpULE(builder_.CreateAnd(stamp, stays), vector_.interval);
    all = builder_.CreateAnd(all, builder_.CreateAnd(before, builder_.CreateICmpNE(stamp, builder_.getInt32(0))));
  }
  return all;
}

std::vector<Value*> SharedMemory::load_words(Value* at, int count, const std::function<Value*()>& may_load) {
  Value* may = has_stamps() ? may_load() : nullptr;
  std::vector<Value*> words;
  for (int i = 0; i < count; ++i) {
    Access access = access_of(at, 4);
    access.displacement = std::int64_t{4} * i;
    if (may != nullptr) access.extent = builder_.CreateSelect(may, access.extent, builder_.getInt64(0));
    words.push_back(accesses_.load(access, builder_.getInt32Ty()));
  }
  return words;
}

}  // namespace padlock::compiler
