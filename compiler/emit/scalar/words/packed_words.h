#pragma once

#include <span>

#include <llvm/IR/IRBuilder.h>

#include "ir/dtype.h"
#include "ir/operation.h"

namespace padlock::compiler {

/// Emits elements of all ones where the top bit of an element of `width` bits is set, else of zeros. `tops`: a word of
/// 32 bits, or a vector of them. `permutes`: by PTX's prmt.
[[nodiscard]] llvm::Value* mask_of_tops(llvm::IRBuilder<>& builder, llvm::Value* tops, int width, bool permutes);

/// Emits operations that compare, select and mask on words of 32 bits, which hold several elements of 8 or 16 bits.
/// They take all elements of a word at once, exact to the bit. No sum or difference carries from one element to the
/// next. A *mask* is words of elements whose bits are all one or all zero. *Tops* are words of which only the top bit
/// of each element counts.
class PackedWords {
 public:
  /// Names the instructions that PTX has and other targets lack.
  struct Instructions {
    bool permute = false;       ///< prmt
    bool compare_f16 = false;   ///< set, on both f16 of a word
    bool compare_bf16 = false;  ///< set, on both bf16 of a word
  };

  /// Returns whether words compute an operation on `lanes` elements of this type (of select: of its last two operands):
  /// if that takes fewer instructions.
  [[nodiscard]] static bool takes(ir::Op op, ir::DType dtype, int lanes, Instructions has);

  /// Borrows the builder.
  PackedWords(llvm::IRBuilder<>& builder, int lanes, ir::DType dtype, Instructions has);

  /// Precondition: takes(op, dtype, lanes, has). Operands and result are vectors of the elements' bits.
  [[nodiscard]] llvm::Value* emit(ir::Op op, std::span<llvm::Value* const> operands);

 private:
  using Value = llvm::Value;
  [[nodiscard]] Value* each(std::uint64_t element) const;
  [[nodiscard]] Value* to_words(Value* elements) const;
  Value* permuted(Value* words, std::uint32_t selectors);
  Value* set(const char* comparison, Value* a, Value* b);

  Value* mask_of(Value* tops);
  Value* choose(Value* mask, Value* a, Value* b);
  Value* nonzero_tops(Value* x);
  Value* nan_tops(Value* x);
  Value* below_zero(Value* x);
  Value* less_tops(Value* a, Value* b, bool is_signed);
  Value* key(Value* x);
  Value* less(Value* a, Value* b);
  Value* equal(Value* a, Value* b);
  Value* less_or_equal(Value* a, Value* b);

  Value* negated(Value* x);
  Value* absolute(Value* x);
  Value* sign(Value* x);
  Value* extremum(bool largest, Value* a, Value* b);
  Value* compare(ir::Op op, Value* a, Value* b);
  Value* mask_of_bools(Value* bools);
  Value* bools_of(Value* mask);

  llvm::IRBuilder<>& builder_;
  int lanes_;
  ir::DType dtype_;
  int width_;
  Instructions has_;
  bool compares_;                       // compares both floats of a word by one instruction
  std::uint64_t top_, low_, infinity_;  // of an element: the sign's bit, all other bits, the bits of +infinity
  llvm::Type* words_;
};

}  // namespace padlock::compiler
