#include "compiler/emit/scalar/emit_search.h"

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

Value* emit_search(IRBuilder<>& builder, ExprEmitter& exprs, const Search& search, Value* wanted,
                   llvm::function_ref<Value*()> looked_at) {
  Value* extent = exprs.exact(builder, search.extent);
  Value* none = llvm::ConstantInt::get(extent->getType(), 0);
  BasicBlock* start = builder.GetInsertBlock();
  BasicBlock *loop = new_block(builder, "search"), *look = new_block(builder, "look");
  BasicBlock* found = new_block(builder, "found");
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* low = builder.CreatePHI(extent->getType(), 2, "low");
  llvm::PHINode* high = builder.CreatePHI(extent->getType(), 2, "high");
  low->addIncoming(none, start);
  high->addIncoming(extent, start);
  builder.CreateCondBr(builder.CreateICmpSLT(low, high), look, found);
  builder.SetInsertPoint(look);
  exprs.set_coordinate(search.low, low);
  exprs.set_coordinate(search.high, high);
  Value* middle = exprs.exact(builder, search.middle);
  exprs.set_coordinate(search.variable, middle);
  Value* is_below = builder.CreateICmpSLE(looked_at(), wanted);
  Value* above = builder.CreateSelect(is_below, exprs.exact(builder, search.above), low);
  Value* below = builder.CreateSelect(is_below, high, exprs.exact(builder, search.below));
  low->addIncoming(above, builder.GetInsertBlock());
  high->addIncoming(below, builder.GetInsertBlock());
  builder.CreateBr(loop);
  builder.SetInsertPoint(found);
  return builder.CreateZExt(low, builder.getInt64Ty());
}

}  // namespace padlock::compiler
