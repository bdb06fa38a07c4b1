#include "compiler/emit/scalar/emit_expr.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/expr/affine.h"

namespace padlock::compiler {

using ir::ExprKind;

namespace {

/// Returns the logarithm of a constant that is a power of two, up to 2^30.
std::optional<int> power_of_two(Expr e) {
  if (!e.is_constant() || e.constant() < 1 || e.constant() > Int128{1} << 30) return std::nullopt;
  const auto value = static_cast<std::uint64_t>(e.constant());
  return std::has_single_bit(value) ? std::optional(std::countr_zero(value)) : std::nullopt;
}

/// Returns whether the launcher makes constants for a divisor, so that multiplications replace the division.
bool is_size(Expr divisor) { return !divisor.has_coordinate() && !divisor.is_constant(); }

}  // namespace

std::size_t SizeTable::index(const abi::SizeArgument& size) {
  const auto [it, inserted] = ids_.try_emplace({size.value.id(), size.fit, size.input}, sizes_.size());
  if (inserted) sizes_.push_back(size);
  return it->second;
}

void ExprEmitter::set_coordinate(Expr coordinate, Value* value) { coordinates_[coordinate.id()] = value; }

Value* ExprEmitter::load_size(Expr e, Encoding fit, llvm::Type* type) {
  const bool is_value = fit == Encoding::wrap || fit == Encoding::saturate;
  if (is_value && e.is_constant() && fits_int64(e.constant()))
    return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(e.constant()), false, /*ImplicitTrunc=*/true);
  return load_word(table_.index({.value = e, .fit = fit}), type);
}

Value* ExprEmitter::load_word(std::size_t index, llvm::Type* type) {
  Value*& loaded = loaded_[{index, type->getIntegerBitWidth()}];
  if (loaded == nullptr) {
    IRBuilder<> builder(entry_->getTerminator() != nullptr ? IRBuilder<>(entry_->getTerminator())
                                                           : IRBuilder<>(entry_));
    // A narrower load reads the word's low half, which comes first on all targets.
    Value* slot = builder.CreateConstGEP1_64(builder.getInt64Ty(), sizes_, index);
    loaded = builder.CreateLoad(type, slot, "size");
  }
  return loaded;
}

Value* ExprEmitter::emit(IRBuilder<>& builder, Expr e, Encoding fit, llvm::IntegerType* type) {
  if (!e.has_coordinate()) return load_size(e, fit, type);
  const Key key{e.id(), fit, type->getBitWidth()};
  if (const auto kept = hoisted_.find(key); kept != hoisted_.end()) return kept->second;
  Value*& value = emitted_[key];  // in a map: the reference stays valid
  if (value == nullptr) value = emit_operation(builder, e, fit, type);
  return value;
}

/// Takes the origin from the part that arrives as a size.
Value* ExprEmitter::address_from_origin(IRBuilder<>& builder, Expr e, std::uint32_t input) {
  const auto [moving, rest] = split_sum(exprs_, e);
  Value* fixed = of_launch({.value = rest, .fit = Encoding::from_origin, .input = input}, offset_);
  return moving.is_constant(0) ? fixed : builder.CreateAdd(address(builder, moving), fixed);
}

/// Descends only into sums and products: other operations have a width of their own for their operands.
void ExprEmitter::hoist(IRBuilder<>& builder, Expr e, Encoding fit, llvm::IntegerType* type,
                        std::span<const Expr> varying) {
  if (!e.has_coordinate()) return;
  if (std::ranges::none_of(varying, [&](Expr coordinate) { return mentions(e, coordinate); })) {
    emitted_.clear();
    hoisted_[{e.id(), fit, type->getBitWidth()}] = emit(builder, e, fit, type);
  } else if (e.kind() == ExprKind::sum || e.kind() == ExprKind::product) {
    for (const Expr part : e.operands()) hoist(builder, part, fit, type, varying);
  }
}

Value* ExprEmitter::emit_operation(IRBuilder<>& builder, Expr e, Encoding fit, llvm::IntegerType* type) {
  switch (e.kind()) {
    case ExprKind::constant:
      return load_size(e, fit, type);
    case ExprKind::symbol:
      // A coordinate known not to be negative may be given with 64 bits, so that no sign extension is needed.
      return builder.CreateSExtOrTrunc(coordinates_.at(e.id()), type);
    case ExprKind::sum:
      return emit_sum(builder, e, fit, type);
    case ExprKind::product:
      return emit_product(builder, e, fit, type);
    case ExprKind::mod:
      return builder.CreateZExt(emit_whole(builder, e, fit == Encoding::wrap ? index_ : type), type);
    default:  // dividends and choices are exact: in an address, as wide as an index
      return builder.CreateSExt(emit_whole(builder, e, fit == Encoding::wrap ? index_ : type), type);
  }
}

Value* ExprEmitter::emit_whole(IRBuilder<>& builder, Expr e, llvm::IntegerType* type) {
  if (e.kind() == ExprKind::floordiv) return emit_floordiv(builder, e, type);
  if (e.kind() == ExprKind::mod) return emit_mod(builder, e, type);
  return emit_minmax(builder, e, type);
}

Value* ExprEmitter::emit_sum(IRBuilder<>& builder, Expr e, Encoding fit, llvm::IntegerType* type) {
  Value* sum = nullptr;
  Value* subtracted = nullptr;
  const auto append = [&](Value*& to, Value* value) { to = to == nullptr ? value : builder.CreateAdd(to, value); };
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    if (!e.operands()[i].has_coordinate()) continue;
    Value* value = emit(builder, e.operands()[i], fit, type);
    const auto coefficient = static_cast<std::int64_t>(static_cast<UInt128>(e.coefficients()[i]));
    if (coefficient == 1)
      append(sum, value);
    else if (coefficient == -1)
      append(subtracted, value);
    else
      append(sum, builder.CreateMul(
                      value, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(coefficient), false, true)));
  }
  if (subtracted != nullptr) sum = sum == nullptr ? builder.CreateNeg(subtracted) : builder.CreateSub(sum, subtracted);
  const Expr rest = split_sum(exprs_, e).second;
  return rest.is_constant(0) ? sum : builder.CreateAdd(sum, load_size(rest, fit, type));
}

Value* ExprEmitter::emit_product(IRBuilder<>& builder, Expr e, Encoding fit, llvm::IntegerType* type) {
  Value* product = nullptr;
  Expr rest = exprs_.constant(1);
  for (const Expr factor : e.operands()) {
    if (!factor.has_coordinate()) {
      rest = exprs_.mul(rest, factor);
      continue;
    }
    Value* value = emit(builder, factor, fit, type);
    product = product == nullptr ? value : builder.CreateMul(product, value);
  }
  if (rest.is_constant(1)) return product;
  // A factor of an index fits the width of indices, too. A GPU makes the 64-bit product of two such factors without
  // signs in one instruction.
  Value* factor = load_size(rest, fit, index_);
  const bool has_sign = rest.range().lo < 0;
  return builder.CreateMul(product, has_sign ? builder.CreateSExt(factor, type) : builder.CreateZExt(factor, type));
}

ExprEmitter::Division ExprEmitter::divide(IRBuilder<>& builder, Value* x, Expr d) {
  Value* divisor = load_size(d, Encoding::saturate, x->getType());
  if (!for_gpu_) return {builder.CreateUDiv(x, divisor), builder.CreateURem(x, divisor)};
  Value* quotient = multiplied_quotient(builder, x, d);
  return {quotient, builder.CreateSub(x, builder.CreateMul(quotient, divisor))};
}

/// Emits the computation of abi::Divisor::divide.
Value* ExprEmitter::multiplied_quotient(IRBuilder<>& builder, Value* x, Expr d) {
  llvm::Type* index = x->getType();
  const unsigned bits = index->getIntegerBitWidth();
  llvm::Type* wide = builder.getIntNTy(2 * bits);
  const auto widened = [&](Value* v) { return builder.CreateZExt(v, wide); };
  const bool narrow = bits == 32;
  Value* multiplier = load_size(d, narrow ? Encoding::magic_multiplier32 : Encoding::magic_multiplier, index);
  Value* product = builder.CreateMul(widened(x), widened(multiplier), "multiplied");
  Value* high = builder.CreateTrunc(builder.CreateLShr(product, bits), index);
  return builder.CreateLShr(builder.CreateAdd(high, x),
                            load_size(d, narrow ? Encoding::magic_shift32 : Encoding::magic_shift, index), "quotient");
}

/// For a negative x the quotient is -1 - (-1 - x) div d; -1 - x is x with all bits inverted.
Value* ExprEmitter::floor_quotient(IRBuilder<>& builder, Value* x, Expr d, bool has_sign) {
  if (!has_sign) return multiplied_quotient(builder, x, d);
  Value* sign = builder.CreateAShr(x, x->getType()->getIntegerBitWidth() - 1, "sign");
  return builder.CreateXor(multiplied_quotient(builder, builder.CreateXor(x, sign), d), sign);
}

Value* ExprEmitter::emit_floordiv(IRBuilder<>& builder, Expr e, llvm::IntegerType* type) {
  Value* dividend = emit_exact(builder, e.operands()[0], type);
  if (is_size(e.operands()[1])) return floor_quotient(builder, dividend, e.operands()[1], has_sign(e));
  if (const std::optional<int> shift = power_of_two(e.operands()[1])) return builder.CreateAShr(dividend, *shift);
  Value* divisor = emit(builder, e.operands()[1], Encoding::saturate, type);
  return divide(builder, e, dividend, divisor, [&](Value* x, Value* d) {
    Value* quotient = builder.CreateSDiv(x, d);
    Value* remainder = builder.CreateSub(x, builder.CreateMul(quotient, d));
    Value* negative = builder.CreateICmpSLT(remainder, llvm::ConstantInt::get(x->getType(), 0));
    return builder.CreateAdd(quotient, builder.CreateSExt(negative, x->getType()));
  });
}

/// The launcher reduces the constant part, so that the sum stays near the coordinates.
Value* ExprEmitter::emit_mod(IRBuilder<>& builder, Expr e, llvm::IntegerType* type) {
  const Expr period = e.operands()[1];
  const bool wraps = widths_.wraps(e.operands()[0]);
  const auto [moving, rest] =
      wraps ? std::pair(e.operands()[0], exprs_.constant(0)) : split_sum(exprs_, e.operands()[0]);
  Value* dividend = emit_exact(builder, moving, type);
  const Expr reduced = exprs_.mod(rest, period);
  if (!reduced.is_constant(0)) dividend = builder.CreateAdd(dividend, load_size(reduced, Encoding::saturate, type));
  if (const std::optional<int> shift = power_of_two(period))
    return builder.CreateAnd(dividend, llvm::ConstantInt::get(type, (std::uint64_t{1} << *shift) - 1));
  Value* divisor = emit(builder, period, Encoding::saturate, type);
  if (is_size(period))
    return builder.CreateSub(dividend,
                             builder.CreateMul(floor_quotient(builder, dividend, period, has_sign(e)), divisor));
  return divide(builder, e, dividend, divisor, [&](Value* x, Value* d) {
    Value* remainder = builder.CreateSRem(x, d);
    Value* negative = builder.CreateICmpSLT(remainder, llvm::ConstantInt::get(x->getType(), 0));
    return builder.CreateSelect(negative, builder.CreateAdd(remainder, d), remainder);
  });
}

/// Divides in 32 bits if both operands fit: a division of 64 bits takes several times as long.
template <class Divide>
Value* ExprEmitter::divide(IRBuilder<>& builder, Expr e, Value* dividend, Value* divisor, Divide&& divide) {
  if (dividend->getType()->isIntegerTy(32) || !widths_.divides_narrowly(e)) return divide(dividend, divisor);
  llvm::Type* i32 = builder.getInt32Ty();
  Value* narrow = divide(builder.CreateTrunc(dividend, i32), builder.CreateTrunc(divisor, i32));
  return builder.CreateSExt(narrow, builder.getInt64Ty());
}

Value* ExprEmitter::emit_minmax(IRBuilder<>& builder, Expr e, llvm::IntegerType* type) {
  const auto intrinsic = e.kind() == ExprKind::min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  Value* result = emit_exact(builder, e.operands()[0], type);
  for (const Expr operand : e.operands().subspan(1))
    result = builder.CreateBinaryIntrinsic(intrinsic, result, emit_exact(builder, operand, type));
  return result;
}

}  // namespace padlock::compiler
