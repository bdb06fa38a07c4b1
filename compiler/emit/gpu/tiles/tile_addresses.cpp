#include "compiler/emit/gpu/tiles/tile_addresses.h"

namespace padlock::compiler {

llvm::Type* TileAddresses::word_type(ir::DType dtype) const {
  return builder_.getIntNTy(8 * static_cast<unsigned>(tile_.lanes * ir::byte_size(dtype)));
}

Value* TileAddresses::loaded_squares(Value* has_halo) const {
  return builder_.CreateSelect(has_halo, vector_.index(tile_.squares()),
                               vector_.index(tile_.squares() - tile_.halo_squares()));
}

Value* TileAddresses::loaded_square(Value* number) const {
  Value* own = vector_.index(tile_.squares() - tile_.halo_squares());
  Value* before = builder_.CreateSub(number, own);
  Value* after = builder_.CreateAdd(number, vector_.index(tile_.halo_squares()));
  return builder_.CreateSelect(builder_.CreateICmpSLT(number, own), after, before);
}

Value* TileAddresses::round_of(Value* number) const {
  Value* round = builder_.CreateUDiv(number, vector_.index(tile_.threads));
  return builder_.CreateZExtOrTrunc(round, builder_.getInt32Ty());
}

Value* TileAddresses::place(Expr row, Expr column) {
  const Kernel& kernel = vector_.schedule().kernel;
  Value* at_row = builder_.CreateAdd(vector_.exact(tile_.cross_first), vector_.exact(row));
  Value* at_column = builder_.CreateAdd(vector_.exact(tile_.column_first), vector_.exact(column));
  vector_.set(kernel.coordinate(tile_.axis), at_row);
  vector_.set(kernel.column(), at_column);
  return at_column;
}

TileStart TileAddresses::output_at() {
  const Kernel& kernel = vector_.schedule().kernel;
  return start_of(vector_.exprs.address(builder_, kernel.element_at(kernel.column())), tile_.stored_step);
}

TileStart TileAddresses::moved(const TileStart& start, ir::DType dtype, Value* steps) const {
  llvm::Type* i64 = builder_.getInt64Ty();
  Value* step = start.has_sign ? builder_.CreateSExt(start.step, i64) : builder_.CreateZExt(start.step, i64);
  TileStart made = moved_by_elements(start, dtype, builder_.CreateMul(step, builder_.CreateSExt(steps, i64)));
  made.element = start.moved_by(builder_, steps);
  return made;
}

TileStart TileAddresses::moved_by_elements(const TileStart& start, ir::DType dtype, Value* elements) const {
  TileStart made = start;
  made.element = builder_.CreateAdd(start.element, builder_.CreateTrunc(elements, start.element->getType()));
  llvm::Type* element = builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(dtype)));
  made.pointer = builder_.CreateGEP(element, start.pointer, elements);
  return made;
}

TileStart TileAddresses::rounded(const TileStart& start, ir::DType dtype) {
  llvm::Type* i64 = builder_.getInt64Ty();
  TileStart made = start;
  Value* mask = llvm::ConstantInt::getSigned(i64, -std::int64_t{tile_.lanes} * ir::byte_size(dtype));
  made.pointer =
      builder_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {start.pointer->getType(), i64}, {start.pointer, mask});
  made.element = builder_.CreateSub(start.element, offset(past_of(start.pointer, dtype, tile_.lanes)));
  return made;
}

Access TileAddresses::access_at(const TileStart& start, ir::DType dtype, int elements) const {
  Access access = vector_.access_of(start.pointer, dtype, vector_.context.offset(0), elements);
  access.origin = start.element;
  return access;
}

TileAddresses::Displaced TileAddresses::displaced(Expr e, Expr other) const {
  const Expr by = vector_.exprs.exprs().sub(e, other);
  if (!by.is_constant()) return {.base = vector_.exact(e)};
  return {.base = vector_.exact(other), .by = static_cast<std::int64_t>(by.constant())};
}

Value* TileAddresses::past(Value* pointer, ir::DType dtype, Value* element, int elements) {
  return past_of(accesses_.address({.pointer = pointer, .dtype = dtype, .first = element}), dtype, elements);
}

Value* TileAddresses::past_of(Value* pointer, ir::DType dtype, int elements) const {
  const auto size = static_cast<std::uint64_t>(ir::byte_size(dtype));
  Value* address = builder_.CreatePtrToInt(pointer, builder_.getInt64Ty());
  Value* number =
      builder_.CreateTrunc(builder_.CreateUDiv(address, builder_.getInt64(size)), vector_.context.index_type());
  return builder_.CreateAnd(number, vector_.index(elements - 1));
}

Value* TileAddresses::is_multiple(Value* pointer, ir::DType dtype, const TileStart& start, int elements) {
  Value* rest = builder_.CreateTrunc(start.step, vector_.context.index_type());
  rest = builder_.CreateAnd(rest, vector_.index(elements - 1));
  Value* past_multiple = past(pointer, dtype, start.element, elements);
  return builder_.CreateICmpEQ(builder_.CreateOr(past_multiple, rest), vector_.index(0));
}

Expr with_later(ir::ExprContext& exprs, Expr e, Expr variable, std::int64_t by) {
  return replaced(exprs, e, variable, exprs.add(variable, exprs.constant(by)));
}

}  // namespace padlock::compiler
