#include "compiler/emit/host/row_chunks/chunk_vectors.h"

#include <algorithm>

namespace padlock::compiler {

InterleavedNodes::InterleavedNodes(const RowChunks& rows) : within_(rows.body.nodes.size()) {
  for (const InterleavedColumns& all : rows.interleaved) {
    columns_[static_cast<std::size_t>(all.node)] = &all;
    for (std::vector<int> left = rows.body.nodes[static_cast<std::size_t>(all.node)].operands; !left.empty();) {
      const auto node = static_cast<std::size_t>(left.back());
      left.pop_back();
      within_[node] = true;
      const std::vector<int>& operands = rows.body.nodes[node].operands;
      left.insert(left.end(), operands.begin(), operands.end());
    }
  }
}

const InterleavedColumns* InterleavedNodes::find(std::size_t node) const {
  const auto found = columns_.find(node);
  return found == columns_.end() ? nullptr : found->second;
}

std::vector<Value*> interleave(IRBuilder<>& builder, const InterleavedColumns& columns, std::vector<Value*> loaded,
                               int vectors) {
  for (const Shuffle& shuffle : columns.shuffles)
    loaded.push_back(builder.CreateShuffleVector(loaded[static_cast<std::size_t>(shuffle.first)],
                                                 loaded[static_cast<std::size_t>(shuffle.second)], shuffle.lanes));
  loaded.erase(loaded.begin(), loaded.end() - vectors);
  return loaded;
}

void SelectionMasks::load(const RowChunkPlan& plan, Value* memory, const BodyNode& node) {
  std::vector<Value*>& masks = masks_[{node.guard, bits(node)}];
  if (!masks.empty()) return;
  const auto guard = static_cast<std::size_t>(std::ranges::find(plan.guards(), node.guard) - plan.guards().begin());
  const auto lanes = static_cast<unsigned>(rows_.loop.lanes);
  auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), lanes);
  for (int vector = 0; vector < rows_.loop.vectors; ++vector) {
    const std::size_t at = plan.mask(guard) + static_cast<std::size_t>(vector * rows_.loop.lanes);
    Value* from = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), memory, at);
    Value* mask = builder_.CreateAlignedLoad(bytes, from, llvm::Align(1));
    masks.push_back(target_.mask_registers
                        ? builder_.CreateICmpSLT(mask, llvm::Constant::getNullValue(bytes))
                        : builder_.CreateSExt(mask, llvm::FixedVectorType::get(builder_.getIntNTy(bits(node)), lanes)));
  }
}

/// (Beside zero a mask's bits are those of the choice: no instruction has to look at its signs.)
Value* SelectionMasks::choose(Value* mask, Value* value, Value* other) {
  if (target_.mask_registers) return builder_.CreateSelect(mask, value, other);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(other);
  if (constant != nullptr && constant->isNullValue() && other->getType() == mask->getType())
    return builder_.CreateAnd(value, mask);
  Value* holds = builder_.CreateICmpSLT(mask, llvm::Constant::getNullValue(mask->getType()));
  return builder_.CreateSelect(holds, value, other);
}

unsigned SelectionMasks::bits(const BodyNode& node) const {
  return target_.mask_registers ? 1 : static_cast<unsigned>(ir::bit_width(node.dtype));
}

void prefetch_stores(IRBuilder<>& builder, llvm::Type* element, const std::vector<Value*>& vectors, int vector_bytes,
                     Value* at) {
  constexpr int kAhead = 1024, kLine = 64;
  const auto vectors_of_line = static_cast<std::size_t>(std::max(kLine / vector_bytes, 1));
  for (std::size_t vector = 0; vector < vectors.size(); vector += vectors_of_line) {
    Value* to = builder.CreateGEP(element, vectors[vector], at);
    Value* ahead = builder.CreateConstGEP1_64(builder.getInt8Ty(), to, kAhead);
    builder.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {ahead->getType()},
        {ahead, builder.getInt32(/*write*/ 1), builder.getInt32(/*locality*/ 3), builder.getInt32(/*data*/ 1)});
  }
}

}  // namespace padlock::compiler
