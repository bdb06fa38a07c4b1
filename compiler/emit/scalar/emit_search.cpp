#include "compiler/emit/scalar/emit_search.h"

#include <limits>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

/// The loop's values: the bounds of the place, and those of the numbers that would come here.
struct Place {
  Value *low, *high, *least, *end;
};

/// Emits the loop from where the builder stands. Returns the values after it.
Place emit_loop(IRBuilder<>& builder, ExprEmitter& exprs, const Search& search, Value* wanted,
                llvm::function_ref<Value*()> looked_at, bool keeps_numbers) {
  Value* extent = exprs.exact(builder, search.extent);
  BasicBlock* start = builder.GetInsertBlock();
  BasicBlock *loop = new_block(builder, "search"), *look = new_block(builder, "look");
  BasicBlock* found = new_block(builder, "found");
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  const auto phi = [&](Value* first, const char* name) {
    llvm::PHINode* made = builder.CreatePHI(first->getType(), 2, name);
    made->addIncoming(first, start);
    return made;
  };
  llvm::PHINode* low = phi(llvm::ConstantInt::get(extent->getType(), 0), "low");
  llvm::PHINode* high = phi(extent, "high");
  llvm::PHINode* least = keeps_numbers ? phi(builder.getInt64(kLeast), "least") : nullptr;
  llvm::PHINode* end = keeps_numbers ? phi(builder.getInt64(kGreatest), "end") : nullptr;
  builder.CreateCondBr(builder.CreateICmpSLT(low, high), look, found);
  builder.SetInsertPoint(look);
  exprs.set_coordinate(search.low, low);
  exprs.set_coordinate(search.high, high);
  Value* middle = exprs.exact(builder, search.middle);
  exprs.set_coordinate(search.variable, middle);
  Value* entry = looked_at();
  Value* is_below = builder.CreateICmpSLE(entry, wanted);
  const auto next = [&](llvm::PHINode* value, Value* if_below, Value* if_above) {
    value->addIncoming(builder.CreateSelect(is_below, if_below, if_above), builder.GetInsertBlock());
  };
  next(low, exprs.exact(builder, search.above), low);
  next(high, high, exprs.exact(builder, search.below));
  if (keeps_numbers) {
    next(least, builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, least, entry), least);
    next(end, end, builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, entry));
  }
  builder.CreateBr(loop);
  builder.SetInsertPoint(found);
  return {low, high, least, end};
}

}  // namespace

SearchMemo SearchMemo::make(IRBuilder<>& builder) {
  BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  const auto slot = [&](std::int64_t value) {
    Value* made = at_entry.CreateAlloca(at_entry.getInt64Ty());
    at_entry.CreateStore(llvm::ConstantInt::getSigned(at_entry.getInt64Ty(), value), made);
    return made;
  };
  return {slot(kGreatest), slot(kLeast), slot(0)};
}

Value* emit_search(IRBuilder<>& builder, ExprEmitter& exprs, const Search& search, Value* wanted,
                   llvm::function_ref<Value*()> looked_at, const SearchMemo* memo) {
  llvm::Type* word = builder.getInt64Ty();
  if (memo == nullptr) return builder.CreateZExt(emit_loop(builder, exprs, search, wanted, looked_at, false).low, word);
  Value* is_known = builder.CreateAnd(builder.CreateICmpSLE(builder.CreateLoad(word, memo->least), wanted),
                                      builder.CreateICmpSLT(wanted, builder.CreateLoad(word, memo->end)));
  emit_if(builder, builder.CreateNot(is_known), [&] {
    const Place place = emit_loop(builder, exprs, search, wanted, looked_at, true);
    builder.CreateStore(place.least, memo->least);
    builder.CreateStore(place.end, memo->end);
    builder.CreateStore(builder.CreateZExt(place.low, word), memo->result);
  });
  return builder.CreateLoad(word, memo->result);
}

}  // namespace padlock::compiler
