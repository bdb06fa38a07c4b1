#include "compiler/emit/scalar/words/packed_words.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ir/reference/numeric.h"

namespace padlock::compiler {

using ir::DType;
using ir::Op;
using llvm::Value;

namespace {

constexpr int kWordBits = 32;
// With this bit, a digit of a prmt selector replicates the sign of its byte.
constexpr std::uint32_t kSigns8 = 0xba98, kSigns16 = 0xbb99;

bool is_comparison(Op op) {
  return op == Op::lt || op == Op::le || op == Op::gt || op == Op::ge || op == Op::eq || op == Op::ne;
}

bool has_bools(Op op) {
  return is_comparison(op) || op == Op::select || op == Op::logical_and || op == Op::logical_or ||
         op == Op::logical_not;
}

/// Permutes a word, or each of a vector.
Value* permuted_words(llvm::IRBuilder<>& builder, Value* words, std::uint32_t selectors) {
  const auto permuted = [&](Value* word) {
    return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt,
                                   {word, builder.getInt32(0), builder.getInt32(selectors)});
  };
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(words->getType());
  if (type == nullptr) return permuted(words);
  Value* made = llvm::PoisonValue::get(words->getType());
  for (std::uint64_t i = 0; i < type->getNumElements(); ++i)
    made = builder.CreateInsertElement(made, permuted(builder.CreateExtractElement(words, i)), i);
  return made;
}

/// Returns an element in all elements of a word, or of each of a vector.
Value* in_each(llvm::Type* words, int width, std::uint64_t element) {
  const std::uint64_t twice = element << width | element;
  return llvm::ConstantInt::get(words, width == 8 ? twice << 16 | twice : twice);
}

}  // namespace

Value* mask_of_tops(llvm::IRBuilder<>& builder, Value* tops, int width, bool permutes) {
  if (permutes) return permuted_words(builder, tops, width == 8 ? kSigns8 : kSigns16);
  const auto bits = static_cast<std::uint64_t>(width);
  Value* ones = builder.CreateAnd(builder.CreateLShr(tops, bits - 1), in_each(tops->getType(), width, 1));
  return builder.CreateSub(builder.CreateShl(ones, bits), ones);
}

bool PackedWords::takes(Op op, DType dtype, int lanes, Instructions has) {
  const int width = ir::bit_width(dtype);
  if (width >= kWordBits || lanes * width % kWordBits != 0) return false;
  // A bf16 is the upper half of an f32, which all targets compare.
  if (is_comparison(op) && dtype == DType::bf16 && !has.compare_bf16) return false;
  if (has_bools(op)) return lanes * ir::bit_width(DType::boolean) % kWordBits == 0;
  switch (op) {
    case Op::relu:
      return ir::is_float(dtype) || ir::is_signed(dtype);
    case Op::neg:
      return !ir::is_float(dtype);
    case Op::abs:
      return ir::is_signed(dtype) && !ir::is_float(dtype);
    default:
      return op == Op::clamp || op == Op::sign || op == Op::maximum || op == Op::minimum;
  }
}

PackedWords::PackedWords(llvm::IRBuilder<>& builder, int lanes, DType dtype, Instructions has)
    : builder_(builder),
      lanes_(lanes),
      dtype_(dtype),
      width_(ir::bit_width(dtype)),
      has_(has),
      compares_(dtype == DType::f16 ? has.compare_f16 : dtype == DType::bf16 && has.compare_bf16),
      top_(std::uint64_t{1} << (width_ - 1)),
      low_(top_ - 1),
      infinity_(dtype == DType::f16 ? 0x7c00 : 0x7f80),
      words_(llvm::FixedVectorType::get(builder.getInt32Ty(), static_cast<unsigned>(lanes * width_ / kWordBits))) {}

Value* PackedWords::each(std::uint64_t element) const { return in_each(words_, width_, element); }

Value* PackedWords::to_words(Value* elements) const { return builder_.CreateBitCast(elements, words_); }

Value* PackedWords::permuted(Value* words, std::uint32_t selectors) {
  return permuted_words(builder_, words, selectors);
}

/// Returns the mask of a comparison of floats by one instruction a word, which LLVM does not emit. (PTX ISA, 9.7.7,
/// set.)
Value* PackedWords::set(const char* comparison, Value* a, Value* b) {
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::InlineAsm* code =
      llvm::InlineAsm::get(llvm::FunctionType::get(i32, {i32, i32}, false),
                           fmt::format("set.{}.u32.{}x2 $0, $1, $2;", comparison, ir::name_of(dtype_)), "=r,r,r",
                           /*hasSideEffects=*/false);
  Value* made = llvm::PoisonValue::get(words_);
  for (std::uint64_t i = 0; i < llvm::cast<llvm::FixedVectorType>(words_)->getNumElements(); ++i) {
    Value* mask = builder_.CreateCall(code, {builder_.CreateExtractElement(a, i), builder_.CreateExtractElement(b, i)});
    made = builder_.CreateInsertElement(made, mask, i);
  }
  return made;
}

// --- masks ---------------------------------------------------------------------------------------------------------

Value* PackedWords::mask_of(Value* tops) { return mask_of_tops(builder_, tops, width_, has_.permute); }

Value* PackedWords::choose(Value* mask, Value* a, Value* b) {
  return builder_.CreateOr(builder_.CreateAnd(a, mask), builder_.CreateAnd(b, builder_.CreateNot(mask)));
}

Value* PackedWords::nonzero_tops(Value* x) {
  return builder_.CreateOr(builder_.CreateAdd(builder_.CreateAnd(x, each(low_)), each(low_)), x);
}

/// The magnitudes of NaNs are those above infinity.
Value* PackedWords::nan_tops(Value* x) {
  return builder_.CreateAdd(builder_.CreateAnd(x, each(low_)), each(low_ - infinity_));
}

/// x < 0: floats with the sign set, except -0.0, whose magnitude is 0, and NaNs.
Value* PackedWords::below_zero(Value* x) {
  if (!ir::is_float(dtype_)) return mask_of(x);
  if (compares_) return set("lt", x, each(0));
  Value* not_zero = builder_.CreateAdd(builder_.CreateAnd(x, each(low_)), each(low_));
  return mask_of(builder_.CreateAnd(builder_.CreateAnd(x, not_zero), builder_.CreateNot(nan_tops(x))));
}

/// Decides by the top bits and, if these are equal, by the other bits. a's others with the top bit set, less b's
/// others, keep that bit if a is not below b.
Value* PackedWords::less_tops(Value* a, Value* b, bool is_signed) {
  Value* not_below = builder_.CreateSub(builder_.CreateOr(a, each(top_)), builder_.CreateAnd(b, each(low_)));
  Value* differ = builder_.CreateXor(a, b);
  Value* by_tops = builder_.CreateAnd(differ, is_signed ? a : b);
  return builder_.CreateOr(by_tops, builder_.CreateNot(builder_.CreateOr(differ, not_below)));
}

/// Orders floats as integers, -0 below +0.
Value* PackedWords::key(Value* x) { return builder_.CreateXor(x, builder_.CreateAnd(mask_of(x), each(low_))); }

/// a < b as values: never true for a NaN, and -0 is not below +0.
Value* PackedWords::less(Value* a, Value* b) {
  if (!ir::is_float(dtype_)) return mask_of(less_tops(a, b, ir::is_signed(dtype_)));
  if (compares_) return set("lt", a, b);
  Value* magnitudes = builder_.CreateAnd(builder_.CreateOr(a, b), each(low_));
  Value* tops = builder_.CreateAnd(less_tops(key(a), key(b), true), builder_.CreateAdd(magnitudes, each(low_)));
  return mask_of(builder_.CreateAnd(tops, builder_.CreateNot(builder_.CreateOr(nan_tops(a), nan_tops(b)))));
}

Value* PackedWords::equal(Value* a, Value* b) {
  Value* differ = nonzero_tops(builder_.CreateXor(a, b));
  if (!ir::is_float(dtype_)) return mask_of(builder_.CreateNot(differ));
  if (compares_) return set("eq", a, b);
  Value* magnitudes = builder_.CreateAnd(builder_.CreateOr(a, b), each(low_));
  Value* unequal = builder_.CreateAnd(differ, builder_.CreateAdd(magnitudes, each(low_)));
  return mask_of(builder_.CreateNot(builder_.CreateOr(unequal, nan_tops(a))));
}

Value* PackedWords::less_or_equal(Value* a, Value* b) {
  if (!ir::is_float(dtype_)) return builder_.CreateNot(less(b, a));
  return compares_ ? set("le", a, b) : builder_.CreateOr(less(a, b), equal(a, b));
}

// --- operations ----------------------------------------------------------------------------------------------------

/// Computes the top bit of 0 - x apart, so that nothing is borrowed from the next element.
Value* PackedWords::negated(Value* x) {
  Value* rest = builder_.CreateSub(each(top_), builder_.CreateAnd(x, each(low_)));
  return builder_.CreateXor(rest, builder_.CreateAnd(builder_.CreateNot(x), each(top_)));
}

Value* PackedWords::absolute(Value* x) {
  Value* mask = mask_of(x);
  return builder_.CreateAdd(builder_.CreateXor(x, mask), builder_.CreateAnd(mask, each(1)));
}

/// Puts the bits of 1 in place of a float's magnitude, unless it is zero or a NaN.
Value* PackedWords::sign(Value* x) {
  if (ir::is_float(dtype_)) {
    Value* not_zero = builder_.CreateAdd(builder_.CreateAnd(x, each(low_)), each(low_));
    Value* number = mask_of(builder_.CreateAnd(not_zero, builder_.CreateNot(nan_tops(x))));
    Value* one = builder_.CreateOr(builder_.CreateAnd(x, each(top_)), each(ir::format_of(dtype_).one()));
    return choose(number, one, x);
  }
  Value* one = builder_.CreateAnd(mask_of(nonzero_tops(x)), each(1));
  return ir::is_signed(dtype_) ? builder_.CreateOr(one, mask_of(x)) : one;
}

/// A NaN wins and is made quiet; the first goes before the second.
Value* PackedWords::extremum(bool largest, Value* a, Value* b) {
  if (!ir::is_float(dtype_)) return largest ? choose(less(a, b), b, a) : choose(less(b, a), b, a);
  Value* above = mask_of(less_tops(key(b), key(a), true));
  Value* chosen = largest ? choose(above, a, b) : choose(above, b, a);
  Value* quiet = each(std::uint64_t{1} << (ir::format_of(dtype_).fraction_bits - 1));
  chosen = choose(mask_of(nan_tops(b)), builder_.CreateOr(b, quiet), chosen);
  return choose(mask_of(nan_tops(a)), builder_.CreateOr(a, quiet), chosen);
}

Value* PackedWords::compare(Op op, Value* a, Value* b) {
  if (dtype_ == DType::boolean) {
    a = builder_.CreateAnd(mask_of(nonzero_tops(a)), each(1));
    b = builder_.CreateAnd(mask_of(nonzero_tops(b)), each(1));
  }
  if (op == Op::gt || op == Op::ge) std::swap(a, b);
  switch (op) {
    case Op::lt:
    case Op::gt:
      return less(a, b);
    case Op::le:
    case Op::ge:
      return less_or_equal(a, b);
    default:
      return op == Op::eq ? equal(a, b) : builder_.CreateNot(equal(a, b));
  }
}

/// Returns the mask, in elements of this width, of bytes that are not zero.
Value* PackedWords::mask_of_bools(Value* bools) {
  PackedWords bytes(builder_, lanes_, DType::boolean, has_);
  Value* tops = bytes.nonzero_tops(bytes.to_words(bools));
  if (width_ == 8) return mask_of(tops);
  auto* elements = llvm::FixedVectorType::get(builder_.getInt16Ty(), static_cast<unsigned>(lanes_));
  if (!has_.permute)
    return to_words(builder_.CreateSExt(builder_.CreateBitCast(bytes.mask_of(tops), bools->getType()), elements));
  Value* made = llvm::PoisonValue::get(words_);
  Value* lower = bytes.permuted(tops, 0x9988);
  Value* upper = bytes.permuted(tops, 0xbbaa);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(lanes_) / 2; ++i)
    made = builder_.CreateInsertElement(made, builder_.CreateExtractElement(i % 2 == 0 ? lower : upper, i / 2), i);
  return made;
}

/// Returns 0 or 1, in bytes.
Value* PackedWords::bools_of(Value* mask) {
  auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), static_cast<unsigned>(lanes_));
  Value* ones = builder_.CreateAnd(mask, each(1));
  if (width_ == 8) return builder_.CreateBitCast(ones, bytes);
  auto* elements = llvm::FixedVectorType::get(builder_.getInt16Ty(), static_cast<unsigned>(lanes_));
  if (!has_.permute) return builder_.CreateTrunc(builder_.CreateBitCast(ones, elements), bytes);
  auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), static_cast<unsigned>(lanes_ / 4));
  Value* made = llvm::PoisonValue::get(type);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(lanes_) / 4; ++i) {
    Value* lower = builder_.CreateExtractElement(ones, 2 * i);
    Value* upper = builder_.CreateExtractElement(ones, 2 * i + 1);
    Value* word = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {lower, upper, builder_.getInt32(0x6420)});
    made = builder_.CreateInsertElement(made, word, i);
  }
  return builder_.CreateBitCast(made, bytes);
}

Value* PackedWords::emit(Op op, std::span<Value* const> v) {
  if (op == Op::select) {
    Value* chosen = choose(mask_of_bools(v[0]), to_words(v[1]), to_words(v[2]));
    return builder_.CreateBitCast(chosen, v[1]->getType());
  }
  std::vector<Value*> x;
  for (Value* operand : v) x.push_back(to_words(operand));
  if (is_comparison(op)) return bools_of(compare(op, x[0], x[1]));
  const auto is_true = [&](std::size_t i) { return mask_of(nonzero_tops(x[i])); };
  const auto made = [&]() -> Value* {
    switch (op) {
      case Op::relu:
        return builder_.CreateAnd(x[0], builder_.CreateNot(below_zero(x[0])));
      case Op::neg:
        return negated(x[0]);
      case Op::abs:
        return absolute(x[0]);
      case Op::sign:
        return sign(x[0]);
      case Op::clamp:
        return choose(less(x[0], x[1]), x[1], choose(less(x[2], x[0]), x[2], x[0]));
      case Op::logical_and:
        return builder_.CreateAnd(builder_.CreateAnd(is_true(0), is_true(1)), each(1));
      case Op::logical_or:
        return builder_.CreateAnd(builder_.CreateOr(is_true(0), is_true(1)), each(1));
      case Op::logical_not:
        return builder_.CreateAnd(builder_.CreateNot(is_true(0)), each(1));
      default:
        return extremum(op == Op::maximum, x[0], x[1]);
    }
  };
  return builder_.CreateBitCast(made(), v[0]->getType());
}

}  // namespace padlock::compiler
