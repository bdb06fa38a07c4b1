#include "compiler/emit/host/row_chunks/selection_masks.h"

#include <algorithm>

namespace padlock::compiler {

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

}  // namespace padlock::compiler
