#pragma once

#include <utility>

#include "compiler/emit/scalar/emit_expr.h"

namespace padlock::compiler {

/// Makes a block of the function in which the builder stands.
[[nodiscard]] inline llvm::BasicBlock* new_block(llvm::IRBuilder<>& builder, const char* name) {
  return llvm::BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
}

/// Emits: if (condition) emit(). The builder stands after it.
template <class Emit>
void emit_if(llvm::IRBuilder<>& builder, llvm::Value* condition, Emit&& emit) {
  llvm::BasicBlock* then = new_block(builder, "then");
  llvm::BasicBlock* after = new_block(builder, "after");
  builder.CreateCondBr(condition, then, after);
  builder.SetInsertPoint(then);
  std::forward<Emit>(emit)();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

/// Asks LLVM and ptxas not to unroll the loop that this branch ends.
inline void keep_rolled(llvm::Instruction& back) {
  llvm::LLVMContext& context = back.getContext();
  llvm::MDNode* stays = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, stays});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

/// Emits: for (at = from; at < limit; at += step) trip(at), tested at the bottom. Returns the final `at`. The builder
/// stands after the loop. `rolled`: it has few turns, and is not unrolled.
template <class Trip>
llvm::Value* counted_loop(llvm::IRBuilder<>& builder, llvm::Value* from, llvm::Value* limit, llvm::Value* step,
                          Trip&& trip, bool rolled = false) {
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* inside = new_block(builder, "loop");
  llvm::BasicBlock* exit = new_block(builder, "exit");
  builder.CreateCondBr(builder.CreateICmpSLT(from, limit), inside, exit);
  builder.SetInsertPoint(inside);
  llvm::PHINode* at = builder.CreatePHI(from->getType(), 2, "at");
  at->addIncoming(from, before);
  std::forward<Trip>(trip)(at);
  llvm::Value* next = builder.CreateAdd(at, step);
  llvm::BasicBlock* last = builder.GetInsertBlock();
  at->addIncoming(next, last);
  llvm::Instruction* back = builder.CreateCondBr(builder.CreateICmpSLT(next, limit), inside, exit);
  if (rolled) keep_rolled(*back);
  builder.SetInsertPoint(exit);
  llvm::PHINode* reached = builder.CreatePHI(from->getType(), 2);
  reached->addIncoming(from, before);
  reached->addIncoming(next, last);
  return reached;
}
template <class Trip>
llvm::Value* counted_loop(llvm::IRBuilder<>& builder, llvm::Value* from, llvm::Value* limit, std::int64_t step,
                          Trip&& trip, bool rolled = false) {
  llvm::Value* by = llvm::ConstantInt::getSigned(from->getType(), step);
  return counted_loop(builder, from, limit, by, std::forward<Trip>(trip), rolled);
}

/// Emits: do { more = trip(); } while (more), not unrolled. `carried` are values that go from one turn to the next: a
/// trip reads and replaces them. After the loop they are those of the last turn.
template <class Trip>
void carrying_loop(llvm::IRBuilder<>& builder, std::vector<llvm::Value*>& carried, Trip&& trip) {
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* inside = new_block(builder, "loop");
  llvm::BasicBlock* exit = new_block(builder, "exit");
  builder.CreateBr(inside);
  builder.SetInsertPoint(inside);
  std::vector<llvm::PHINode*> phis;
  for (llvm::Value*& value : carried) {
    phis.push_back(builder.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    value = phis.back();
  }
  llvm::Value* more = std::forward<Trip>(trip)();
  for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(carried[i], builder.GetInsertBlock());
  keep_rolled(*builder.CreateCondBr(more, inside, exit));
  builder.SetInsertPoint(exit);
}

/// Values that each of several blocks makes, equally many in each, by block.
using Ways = std::vector<std::pair<llvm::BasicBlock*, std::vector<llvm::Value*>>>;
/// Returns the values of the block that was run. All blocks go to where the builder stands.
[[nodiscard]] inline std::vector<llvm::Value*> join(llvm::IRBuilder<>& builder, const Ways& ways) {
  std::vector<llvm::Value*> joined;
  for (llvm::Value* like : ways.front().second) {
    llvm::PHINode* phi = builder.CreatePHI(like->getType(), static_cast<unsigned>(ways.size()));
    for (const auto& [block, values] : ways) phi->addIncoming(values[joined.size()], block);
    joined.push_back(phi);
  }
  return joined;
}

/// Emits whether all tests are >= 0, as i1.
[[nodiscard]] llvm::Value* holds(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const std::vector<ir::Expr>& tests);
/// As `holds`, for tests of offsets.
[[nodiscard]] llvm::Value* holds_of_offsets(llvm::IRBuilder<>& builder, ExprEmitter& exprs,
                                            const std::vector<ir::Expr>& tests);
/// Emits whether all comparisons (<= or >=) of offsets hold, as i1.
[[nodiscard]] llvm::Value* holds_of_offsets(llvm::IRBuilder<>& builder, ExprEmitter& exprs,
                                            const std::vector<ir::Constraint>& tests);

}  // namespace padlock::compiler
