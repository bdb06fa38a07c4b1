#include "compiler/emit/scalar/lane_masks.h"

#include "compiler/emit/scalar/words/packed_words.h"

namespace padlock::compiler {

using llvm::Value;

/// Emits a word of which the top bit of each element is set if its lane is below `bound`, which is in [0, lanes]. With
/// t = 2^(bits - 1), an element is t - 1 - lane + bound: from t - lanes to t - 1 + lanes, so that nothing is carried.
Value* LaneMasks::tops_below(Value* bound, unsigned bits, unsigned first_lane) {
  std::uint32_t ones = 0, at_zero = 0;
  for (unsigned element = 0; element < 32 / bits; ++element) {
    ones |= 1U << (bits * element);
    at_zero |= ((1U << (bits - 1)) - 1 - (first_lane + element)) << (bits * element);
  }
  return builder_.CreateAdd(builder_.CreateMul(bound, builder_.getInt32(ones)), builder_.getInt32(at_zero));
}

Value* LaneMasks::holds(Value* first, Value* end, unsigned lane) {
  Value* number = builder_.getInt32(lane);
  return builder_.CreateAnd(builder_.CreateICmpSLE(first, number), builder_.CreateICmpSLT(number, end));
}

/// Compares lanes of whole words. Others come from sums, which leave the integer units, the busiest, to other code.
/// (An H100, of a copy: joined f32 .91 by signs and 1.00 by comparisons.)
Value* LaneMasks::range(Value* first, Value* end, unsigned bits) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(first);
  const bool from_start = constant != nullptr && constant->isZero();
  Value* made = llvm::PoisonValue::get(type(bits));
  for (unsigned word = 0; word < words(bits); ++word) {
    const unsigned lane = 32 * word / bits;
    Value* mask = nullptr;
    if (bits >= 32) {
      mask = builder_.CreateSExt(holds(first, end, lane), builder_.getInt32Ty());
    } else {
      Value* tops = tops_below(end, bits, lane);
      if (!from_start) tops = builder_.CreateAnd(tops, builder_.CreateNot(tops_below(first, bits, lane)));
      mask = mask_of_tops(builder_, tops, static_cast<int>(bits), permutes_bytes_);
    }
    made = builder_.CreateInsertElement(made, mask, std::uint64_t{word});
  }
  return made;
}

/// A mask of whole words would be two operations more than a selection.
Value* LaneMasks::choose_range(Value* first, Value* end, Value* a, Value* b, unsigned bits) {
  if (bits < 32) return choose(range(first, end, bits), a, b);
  Value* chosen = b;
  for (unsigned word = 0; word < words(bits); ++word) {
    Value* own = builder_.CreateExtractElement(a, std::uint64_t{word});
    Value* other = builder_.CreateExtractElement(b, std::uint64_t{word});
    own = builder_.CreateSelect(holds(first, end, 32 * word / bits), own, other);
    chosen = builder_.CreateInsertElement(chosen, own, std::uint64_t{word});
  }
  return chosen;
}

}  // namespace padlock::compiler
