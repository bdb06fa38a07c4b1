#pragma once

#include <span>
#include <utility>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/scalar/target_features.h"
#include "compiler/emit/scalar/words/packed_words.h"
#include "ir/dtype.h"
#include "ir/operation.h"

namespace padlock::compiler {

/// Emits elementwise operations on values of `lanes` elements (a scalar for one lane). An element is kept as the
/// integer of its bits whatever its type, so that moving it cannot change it. Arithmetic converts to float values and
/// back. Each operation rounds once, to its own type.
class OpEmitter {
 public:
  /// Borrows the builder and the target.
  OpEmitter(llvm::IRBuilder<>& builder, int lanes, const TargetFeatures& target)
      : builder_(builder),
        lanes_(lanes),
        target_(target),
        on_words_{
            .permute = target.permutes_bytes, .compare_f16 = target.f16_masks, .compare_bf16 = target.bf16_masks} {}

  [[nodiscard]] llvm::Type* storage_type(ir::DType dtype) const { return integer(ir::bit_width(dtype)); }
  [[nodiscard]] llvm::Value* bits(ir::DType dtype, std::uint64_t value) const;

  /// Returns the result of `op`, of type `result`, from operands of type `operand` (of select: of its last two).
  [[nodiscard]] llvm::Value* emit(ir::Op op, ir::DType result, ir::DType operand,
                                  std::span<llvm::Value* const> operands);

  /// Convert an element to the type in which elements are added up (f32 for f16 and bf16); add an element; round back.
  [[nodiscard]] llvm::Value* to_sum(ir::DType dtype, llvm::Value* bits);
  [[nodiscard]] llvm::Value* add_to_sum(ir::DType dtype, llvm::Value* sum, llvm::Value* bits);
  [[nodiscard]] llvm::Value* from_sum(ir::DType dtype, llvm::Value* sum);

 private:
  using Value = llvm::Value;
  [[nodiscard]] llvm::Type* integer(int width) const;
  [[nodiscard]] llvm::Type* vector_of(llvm::Type* element) const;
  [[nodiscard]] llvm::Type* float_type(ir::DType dtype) const;
  [[nodiscard]] Value* constant(int width, std::uint64_t value) const;

  // Convert bits to the float value for arithmetic (f32 for f16 and bf16), and back with one rounding.
  Value* to_float(ir::DType dtype, Value* v);
  Value* from_float(ir::DType dtype, Value* v);
  Value* f16_to_f32(Value* v);
  Value* f32_to_f16(Value* v);
  Value* f32_to_bf16(Value* v);
  Value* number_to_bf16(Value* raw);
  Value* first_half(Value* raw);
  Value* f64_to_f32_odd(Value* v);

  Value* truth(Value* boolean);                      // byte != 0, as i1
  Value* byte(Value* truth);                         // i1 to 0 or 1
  Value* less(ir::DType dtype, Value* a, Value* b);  // as i1
  Value* less_by_bits(ir::DType dtype, Value* a, Value* b);
  Value* compare(ir::Op op, ir::DType dtype, Value* a, Value* b);
  Value* relu(ir::DType dtype, Value* x);
  Value* leaky_relu(ir::DType dtype, Value* x, Value* alpha);
  Value* clamp(ir::DType dtype, Value* x, Value* lo, Value* hi);
  Value* of_floats(ir::Op op, Value* x, Value* y);
  Value* arithmetic(ir::Op op, ir::DType dtype, Value* a, Value* b);
  Value* unary(ir::Op op, ir::DType dtype, Value* x);
  Value* whole(ir::Op op, ir::DType dtype, Value* x);
  Value* whole_by_sum(ir::Op op, Value* x);
  Value* activation(ir::Op op, ir::DType dtype, Value* x);
  Value* unless_in_doubt(Value* v, std::pair<Value*, Value*> likely, llvm::function_ref<Value*(Value*)> of);
  Value* side_by_side(Value* v, llvm::function_ref<Value*(Value*)> of);
  Value* two_by_two(Value* v, llvm::function_ref<Value*(Value*)> of);
  Value* from_activation(ir::DType dtype, Value* v);
  Value* integer_abs(int width, Value* x);
  Value* sign(ir::DType dtype, Value* x);
  Value* extremum(ir::Op op, ir::DType dtype, Value* a, Value* b);
  Value* cast(ir::DType from, ir::DType to, Value* x);
  Value* integer_to_float(ir::DType from, ir::DType to, Value* x);
  Value* bytes_to_f16(Value* x, bool is_signed);
  Value* float_to_integer(ir::DType from, ir::DType to, Value* x);
  Value* float_to_float(ir::DType from, ir::DType to, Value* x);

  llvm::IRBuilder<>& builder_;
  int lanes_;
  const TargetFeatures& target_;
  PackedWords::Instructions on_words_;
};

}  // namespace padlock::compiler
