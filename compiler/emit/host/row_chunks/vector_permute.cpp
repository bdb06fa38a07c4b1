#include "compiler/emit/host/row_chunks/vector_permute.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/emit/scalar/host_instructions.h"

namespace padlock::compiler {

using llvm::Value;

namespace {

struct Instruction {
  Architecture architecture;
  int bytes;  // bytes of the instruction's vector
  int size;   // the least size of elements that it is used for
  int unit;   // bytes that move together
  unsigned intrinsic;
  unsigned of_two = 0;  // its twin that takes lanes of two vectors, if that is as fast
};

using enum Architecture;

// The first instruction that fits is taken. VectorPermutes says which a target has.
constexpr std::array kInstructions = {Instruction{aarch64, 16, 1, 1, llvm::Intrinsic::aarch64_neon_tbl1},
                                      Instruction{x86_64, 16, 1, 1, llvm::Intrinsic::x86_ssse3_pshuf_b_128},
                                      Instruction{x86_64, 32, 4, 4, llvm::Intrinsic::x86_avx2_permd},
                                      Instruction{x86_64, 32, 2, 2, llvm::Intrinsic::x86_avx512_permvar_hi_256},
                                      Instruction{x86_64, 32, 1, 1, llvm::Intrinsic::x86_avx512_permvar_qi_256},
                                      Instruction{x86_64, 64, 8, 8, llvm::Intrinsic::x86_avx512_permvar_di_512,
                                                  llvm::Intrinsic::x86_avx512_vpermi2var_q_512},
                                      Instruction{x86_64, 64, 4, 4, llvm::Intrinsic::x86_avx512_permvar_si_512,
                                                  llvm::Intrinsic::x86_avx512_vpermi2var_d_512},
                                      Instruction{x86_64, 64, 2, 2, llvm::Intrinsic::x86_avx512_permvar_hi_512},
                                      Instruction{x86_64, 64, 1, 1, llvm::Intrinsic::x86_avx512_permvar_qi_512}};

const Instruction& instruction_for(Architecture architecture, int bytes, int size) {
  return *std::ranges::find_if(kInstructions, [&](const Instruction& one) {
    return one.architecture == architecture && one.bytes >= bytes && one.size <= size;
  });
}

/// Returns whether an index whose highest bit is set gives 0.
bool gives_zeros(unsigned intrinsic) {
  return intrinsic == llvm::Intrinsic::x86_ssse3_pshuf_b_128 || intrinsic == llvm::Intrinsic::aarch64_neon_tbl1;
}

}  // namespace

VectorPermute::VectorPermute(llvm::IRBuilder<>& builder, Architecture architecture, int lanes, int size)
    : builder_(builder), architecture_(architecture), lanes_(lanes), size_(size) {
  const Instruction& chosen = instruction_for(architecture, lanes * size, size);
  bytes_ = chosen.bytes;
  unit_ = chosen.unit;
  intrinsic_ = chosen.intrinsic;
  intrinsic_of_two_ = lanes * size == chosen.bytes ? chosen.of_two : 0;
}

bool VectorPermute::pays_to_mark(Architecture architecture, int lanes, int size, bool mask_registers) {
  const Instruction& chosen = instruction_for(architecture, lanes * size, size);
  return !mask_registers || chosen.of_two != 0 || gives_zeros(chosen.intrinsic);
}

llvm::FixedVectorType* VectorPermute::units() const {
  return llvm::FixedVectorType::get(builder_.getIntNTy(8 * static_cast<unsigned>(unit_)),
                                    static_cast<unsigned>(bytes_ / unit_));
}

/// Widens the vector to an instruction's; the upper part is undefined.
Value* VectorPermute::as_units(Value* vector) {
  if (lanes_ * size_ < bytes_) {
    std::vector<int> lanes(static_cast<std::size_t>(bytes_ / size_), llvm::PoisonMaskElem);
    std::iota(lanes.begin(), lanes.begin() + lanes_, 0);
    vector = builder_.CreateShuffleVector(vector, lanes);
  }
  return builder_.CreateBitCast(vector, units());
}

/// Returns the indices of an element's units, in an integer as wide as the element: i * n + k in unit k of n.
Value* VectorPermute::numbered(Value* indices) {
  const int count = size_ / unit_;
  std::uint64_t ones = 0, numbers = 0;
  for (int k = 0; k < count; ++k) {
    ones |= std::uint64_t{1} << (8 * unit_ * k);
    numbers |= static_cast<std::uint64_t>(k) << (8 * unit_ * k);
  }
  if (count > 1) {
    const auto constant = [&](std::uint64_t bits) { return llvm::ConstantInt::get(indices->getType(), bits); };
    indices = builder_.CreateMul(indices, constant(ones * static_cast<std::uint64_t>(count)));
    indices = builder_.CreateAdd(indices, constant(numbers));
  }
  return indices;
}

bool VectorPermute::zeroes_others() const { return gives_zeros(intrinsic_); }

bool VectorPermute::chooses(const Value* other) const {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(other);
  return intrinsic_of_two_ != 0 || (zeroes_others() && constant != nullptr && constant->isNullValue());
}

Value* VectorPermute::permuted_or(Value* vector, Value* numbers, Value* other) {
  if (intrinsic_of_two_ != 0) return builder_.CreateIntrinsic(intrinsic_of_two_, {}, {vector, numbers, other});
  const bool is_one = vector->getType() ==
                      llvm::FixedVectorType::get(vector->getType()->getScalarType(), static_cast<unsigned>(lanes_));
  return is_one ? permuted(vector, numbers) : permuted_blocks(vector, numbers);
}

/// Uses the highest bit of each number: pshufb and tbl make 0 of such a unit, so the bit is set for lanes that are not
/// held; the others ignore it, and tests for a set bit are shorter. An instruction that takes lanes of two vectors
/// counts the second's after the first's: a lane that is not held takes the second's own, whatever its number was.
Value* VectorPermute::marked(Value* numbers, Value* holds) {
  std::uint64_t bits = 0;
  for (int bit = 8 * unit_ - 1; bit < 8 * size_; bit += 8 * unit_) bits |= std::uint64_t{1} << bit;
  const auto all = [&](std::uint64_t value) { return llvm::ConstantInt::get(numbers->getType(), value); };
  if (zeroes_others())
    return builder_.CreateSelect(holds, builder_.CreateAnd(numbers, all(~bits)), builder_.CreateOr(numbers, all(bits)));
  const std::uint64_t second = intrinsic_of_two_ != 0 ? static_cast<std::uint64_t>(lanes_) : 0;
  Value* held = builder_.CreateOr(builder_.CreateAnd(numbers, all(~(bits | second))), all(bits));
  auto* type = llvm::cast<llvm::VectorType>(numbers->getType());
  Value* own = builder_.CreateAdd(builder_.CreateStepVector(type), all(second));
  return builder_.CreateSelect(holds, held, own);
}

Value* VectorPermute::holds(Value* numbers) {
  llvm::Constant* none = llvm::Constant::getNullValue(numbers->getType());
  return zeroes_others() ? builder_.CreateICmpSGE(numbers, none) : builder_.CreateICmpSLT(numbers, none);
}

Value* VectorPermute::permuted(Value* vector, Value* numbers) {
  llvm::Type* type = vector->getType();
  Value* moved = call_intrinsic(builder_, intrinsic_, {as_units(vector), as_units(numbers)});
  if (lanes_ * size_ == bytes_) return builder_.CreateBitCast(moved, type);
  moved = builder_.CreateBitCast(moved, llvm::FixedVectorType::get(llvm::cast<llvm::VectorType>(type)->getElementType(),
                                                                   static_cast<unsigned>(bytes_ / size_)));
  std::vector<int> lanes(static_cast<std::size_t>(lanes_));
  std::iota(lanes.begin(), lanes.end(), 0);
  return builder_.CreateShuffleVector(moved, lanes);
}

Value* VectorPermute::permuted_blocks(Value* vectors, Value* numbers) {
  const auto bits = static_cast<unsigned>(vectors->getType()->getPrimitiveSizeInBits().getFixedValue());
  auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), bits / 8);
  return shuffle_bytes(builder_, architecture_, vectors, builder_.CreateBitCast(numbers, bytes));
}

}  // namespace padlock::compiler
