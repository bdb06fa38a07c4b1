#include "compiler/emit/gpu/boxes/vector_parts.h"

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

/// Returns whether a result is a vector of whole words.
bool has_words(Value* result) {
  return result->getType()->isVectorTy() && result->getType()->getPrimitiveSizeInBits() >= 32;
}

}  // namespace

/// Returns lanes [lane, lane + lanes) of a vector of several words, as an integer. `lane` is a multiple of `lanes`.
Value* VectorParts::part_of(Value* result, Value* lane, int lanes) {
  llvm::IRBuilder<>& builder = vector_.builder;
  const auto* type = llvm::cast<llvm::FixedVectorType>(result->getType());
  const auto bits = static_cast<unsigned>(type->getScalarSizeInBits());
  const unsigned part = bits * static_cast<unsigned>(lanes), all = bits * type->getNumElements();
  const unsigned unit = std::max(part, 32U);  // the whole words that hold the part
  llvm::Type* units = llvm::FixedVectorType::get(builder.getIntNTy(unit), all / unit);
  Value* words = builder.CreateBitCast(result, units);
  // Halves the rest each time, so that no index is computed.
  std::vector<Value*> left;
  for (std::uint64_t i = 0; i < all / unit; ++i) left.push_back(builder.CreateExtractElement(words, i));
  for (unsigned half = all / 2; left.size() > 1; half /= 2) {
    Value* bit = builder.CreateAnd(lane, builder.getInt32(half / bits));
    Value* is_last = builder.CreateICmpNE(bit, builder.getInt32(0));
    const std::size_t count = left.size() / 2;
    for (std::size_t i = 0; i < count; ++i) left[i] = builder.CreateSelect(is_last, left[i + count], left[i]);
    left.resize(count);
  }
  if (part == unit) return left[0];
  Value* within = builder.CreateAnd(lane, builder.getInt32(unit / bits - 1));
  Value* shifted = builder.CreateLShr(left[0], builder.CreateMul(within, builder.getInt32(bits)));
  return builder.CreateTrunc(shifted, builder.getIntNTy(part));
}

/// Stores parts up from `first`: its missing bits to a multiple of each size say which. Or stores parts down to `end`,
/// by its bits.
void VectorParts::store_parts(Value* element, Value* first, Value* end, llvm::ArrayRef<Value*> results) {
  llvm::IRBuilder<>& builder = vector_.builder;
  const int all = vector_.lanes();
  Value* is_first = builder.CreateICmpNE(first, builder.getInt32(0));
  for (int lanes = 1; lanes < all; lanes *= 2) {
    const auto count = [&](int n) { return builder.getInt32(static_cast<std::uint32_t>(n)); };
    Value* edge = builder.CreateSelect(is_first, builder.CreateAdd(first, count(lanes - 1)), end);
    Value* has = builder.CreateICmpNE(builder.CreateAnd(edge, count(lanes)), count(0));
    Value* lane = builder.CreateAnd(edge, builder.CreateNot(count(2 * lanes - 1)));
    lane = builder.CreateAdd(lane, builder.CreateSelect(is_first, count(lanes), count(0)));
    vector_.when(has, [&] {
      std::vector<Value*> parts;
      for (Value* result : results) parts.push_back(part_of(result, lane, lanes));
      stores_.store_part(builder.CreateAdd(element, lane), lanes, parts);
    });
  }
}

/// Stores lanes one after another by a loop, which is rarely run: the driver assembles as many instructions as there
/// are.
void VectorParts::store_elements(Value* element, Value* first, Value* end, llvm::ArrayRef<Value*> results) {
  llvm::IRBuilder<>& builder = vector_.builder;
  const auto store_lane = [&](Value* lane) {
    std::vector<Value*> one;
    for (Value* result : results)
      one.push_back(vector_.lanes() == 1 ? result
                    : has_words(result)  ? part_of(result, lane, 1)
                                         : builder.CreateExtractElement(result, lane));
    stores_.store_part(builder.CreateAdd(element, lane), 1, one);
  };
  constexpr bool kRolled = true;
  counted_loop(builder, first, end, 1, store_lane, kRolled);
}

/// Lanes that are missing on both sides are stored by elements. So are results whose vectors lie at other phases.
void VectorParts::store(Value* element, Value* first, Value* end, llvm::ArrayRef<Value*> results) {
  llvm::IRBuilder<>& builder = vector_.builder;
  if (!llvm::all_of(results, has_words)) return store_elements(element, first, end, results);
  Value* all = vector_.context.index(vector_.lanes());
  Value* one_side = builder.CreateOr(builder.CreateICmpEQ(first, builder.getInt32(0)), builder.CreateICmpEQ(end, all));
  BasicBlock* parts = vector_.block("parts");
  BasicBlock* elements = vector_.block("elements");
  BasicBlock* done = vector_.block("stored_parts");
  builder.CreateCondBr(builder.CreateAnd(one_side, stores_.together()), parts, elements);
  builder.SetInsertPoint(parts);
  store_parts(element, first, end, results);
  builder.CreateBr(done);
  builder.SetInsertPoint(elements);
  store_elements(element, first, end, results);
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
}

}  // namespace padlock::compiler
