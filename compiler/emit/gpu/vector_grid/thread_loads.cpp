#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/vector_shift.h"

// Emits a grid body's loads of neighbouring elements. A load is a vector if its address is a multiple of its size.
// Other loads go element by element, or out of two granules.
namespace padlock::compiler {

unsigned ThreadValues::vector_bytes(std::size_t load) const {
  return static_cast<unsigned>(vector_.lanes() * ir::byte_size(load_at(load).dtype));
}

/// From four elements on, a vector of single loads takes more instructions than two granules and their shift.
bool ThreadValues::takes_granules(std::size_t load) const {
  constexpr int kFewElements = 4;
  return is_vector(load_at(load)) && vector_.lanes() > kFewElements;
}

llvm::Type* ThreadValues::granule_type(std::size_t load) const {
  return VectorShift(builder_, vector_bytes(load), ir::byte_size(load_at(load).dtype)).type();
}

/// The first in memory is the last lane of a reversed load.
Value* ThreadValues::first_in_memory(std::size_t load) {
  Value* element = element_of(load, column_);
  if (!reversed(load)) return element;
  return builder_.CreateSub(element, vector_.context.offset(vector_.lanes() - 1));
}

/// Emits the bytes that an element is past a multiple of the vector's size, i32.
Value* ThreadValues::past_vector(std::size_t load, Value* element) {
  Value* address = builder_.CreatePtrToInt(accesses_.address(access_of(load, element)), builder_.getInt64Ty());
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  return builder_.CreateAnd(builder_.CreateTrunc(address, builder_.getInt32Ty()),
                            builder_.getInt32(vector_bytes(load) - size));
}

Value* LaneRuns::any(llvm::IRBuilder<>& builder) const {
  Value* found = builder.getFalse();
  for (const auto& [first, end] : runs) found = builder.CreateOr(found, builder.CreateICmpSLT(first, end));
  return found;
}

Value* LaneRuns::all(llvm::IRBuilder<>& builder, int lanes) const {
  Value* missing = builder.getInt32(static_cast<std::uint32_t>(lanes));
  for (const auto& [first, end] : runs) missing = builder.CreateSub(missing, builder.CreateSub(end, first));
  return builder.CreateICmpEQ(missing, builder.getInt32(0));
}

Value* LaneRuns::has(llvm::IRBuilder<>& builder, int lane) const {
  Value* number = builder.getInt32(static_cast<std::uint32_t>(lane));
  Value* found = builder.getFalse();
  for (const auto& [first, end] : runs)
    found = builder.CreateOr(
        found, builder.CreateAnd(builder.CreateICmpSLE(first, number), builder.CreateICmpSLT(number, end)));
  return found;
}

/// Emits one load if the address is a multiple of the vector's size: usually all addresses of a launch are, or none. A
/// lane that is not needed may lie outside the tensor.
std::vector<Value*> ThreadValues::load_elements(std::size_t load, Value* element, Value* past, const LaneRuns* needed) {
  BasicBlock* aligned = vector_.block("aligned");
  BasicBlock* misaligned = vector_.block("misaligned");
  BasicBlock* loaded = vector_.block("loaded");
  Value* together = builder_.CreateICmpEQ(past, builder_.getInt32(0));
  if (needed != nullptr) together = builder_.CreateAnd(together, needed->all(builder_, vector_.lanes()));
  builder_.CreateCondBr(together, aligned, misaligned);
  builder_.SetInsertPoint(aligned);
  Value* vector = accesses_.load(access_of(load, element, vector_.lanes()), granule_type(load));
  vector = builder_.CreateBitCast(vector, type_of(load, vector_.lanes()));
  std::vector<llvm::PHINode*> phis;
  for (int i = 0; i < vector_.lanes(); ++i) {
    phis.push_back(llvm::PHINode::Create(type_of(load, 1), 2, "", loaded));
    Value* lane = builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(i));
    phis.back()->addIncoming(lane, builder_.GetInsertBlock());
  }
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(misaligned);
  // The first lane's element may be before the tensor's first.
  if (needed != nullptr) element = builder_.CreateSExt(element, builder_.getInt64Ty());
  Access access = access_of(load, element);
  std::vector<Value*> lanes;
  for (; access.displacement < vector_.lanes(); ++access.displacement) {
    const auto place = static_cast<int>(access.displacement);
    if (needed != nullptr) access.guard = needed->has(builder_, reversed(load) ? vector_.lanes() - 1 - place : place);
    lanes.push_back(accesses_.load(access, type_of(load, 1)));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) phis[i]->addIncoming(lanes[i], builder_.GetInsertBlock());
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  return {phis.begin(), phis.end()};
}

/// Loads two granules. A vector that is itself a granule needs no second one. If all its lanes are needed it is inside
/// the tensor, and nothing is tested.
std::vector<Value*> ThreadValues::load_granules(std::size_t load, Value* element, Value* past, const LaneRuns* needed,
                                                llvm::function_ref<void()> outside) {
  const Granules& granules = vector_.grid().granules;
  ExprEmitter& exprs = vector_.exprs;
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  exprs.set_coordinate(granules.shift, builder_.CreateUDiv(past, builder_.getInt32(size)));
  Value* first = builder_.CreateAdd(element, exprs.exact_offset(builder_, granules.offset));
  exprs.set_coordinate(granules.first, first);
  exprs.set_coordinate(granules.least, arguments_.loads[load].least);
  exprs.set_coordinate(granules.end, arguments_.loads[load].end);
  BasicBlock* inside = vector_.block("granules");
  BasicBlock* elsewhere = vector_.block("outside");
  Value* is_granule = builder_.CreateICmpEQ(past, builder_.getInt32(0));
  Value* is_inside =
      needed == nullptr ? is_granule : builder_.CreateAnd(is_granule, needed->all(builder_, vector_.lanes()));
  builder_.CreateCondBr(builder_.CreateOr(is_inside, holds_of_offsets(builder_, exprs, granules.tests)), inside,
                        elsewhere);
  builder_.SetInsertPoint(elsewhere);
  outside();
  builder_.SetInsertPoint(inside);
  Access access = access_of(load, first, vector_.lanes());
  Value* low = accesses_.load(access, granule_type(load));
  access.displacement = vector_.lanes();
  BasicBlock* without = builder_.GetInsertBlock();
  BasicBlock* second = vector_.block("second");
  BasicBlock* loaded = vector_.block("loaded");
  builder_.CreateCondBr(is_granule, loaded, second);
  builder_.SetInsertPoint(second);
  Value* next = accesses_.load(access, granule_type(load));
  BasicBlock* with = builder_.GetInsertBlock();
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  llvm::PHINode* high = builder_.CreatePHI(next->getType(), 2);
  high->addIncoming(llvm::PoisonValue::get(next->getType()), without);
  high->addIncoming(next, with);
  return {low, high, past};
}

std::vector<Value*> ThreadValues::load_lanes(std::size_t load, llvm::function_ref<void()> outside,
                                             const LaneRuns* needed) {
  if (!is_vector(load_at(load))) return {load_at(load).kind == LoadKind::invariant ? load_here(load) : gather(load)};
  Value* element = first_in_memory(load);
  Value* past = past_vector(load, element);
  return takes_granules(load) ? load_granules(load, element, past, needed, outside)
                              : load_elements(load, element, past, needed);
}

std::size_t ThreadValues::loaded_values(std::size_t load) const {
  constexpr std::size_t kGranuleValues = 3;
  if (!is_vector(load_at(load))) return 1;
  return takes_granules(load) ? kGranuleValues : static_cast<std::size_t>(vector_.lanes());
}

/// A vector that is itself a granule is not shifted.
Value* ThreadValues::from_granules(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* shifts = vector_.block("shifts");
  BasicBlock* shifted = vector_.block("shifted");
  builder_.CreateCondBr(builder_.CreateICmpNE(loaded[2], builder_.getInt32(0)), shifts, shifted);
  builder_.SetInsertPoint(shifts);
  const VectorShift words(builder_, vector_bytes(load), ir::byte_size(load_at(load).dtype));
  Value* cut = words.shifted(loaded[0], loaded[1], loaded[2]);
  builder_.CreateBr(shifted);
  builder_.SetInsertPoint(shifted);
  llvm::PHINode* vector = builder_.CreatePHI(cut->getType(), 2);
  vector->addIncoming(loaded[0], before);
  vector->addIncoming(cut, shifts);
  return vector;
}

Value* ThreadValues::vector_from(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  if (!is_vector(load_at(load))) return loaded.front();
  llvm::Type* type = type_of(load, vector_.lanes());
  Value* vector = llvm::PoisonValue::get(type);
  if (takes_granules(load)) {
    vector = builder_.CreateBitCast(from_granules(load, loaded), type);
  } else {
    for (std::size_t i = 0; i < loaded.size(); ++i) vector = builder_.CreateInsertElement(vector, loaded[i], i);
  }
  return reversed(load) ? builder_.CreateVectorReverse(vector) : vector;
}

}  // namespace padlock::compiler
