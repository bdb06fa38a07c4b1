#include "ir/reference/scalar_ops.h"

#include <bit>
#include <cmath>

#include "ir/reference/activations.h"
#include "ir/reference/numeric.h"

namespace padlock::ir {
namespace {

enum class Order : std::uint8_t { less, equal, greater, unordered };

template <class T>
Order order_of_numbers(T a, T b) {
  if (a < b) return Order::less;
  if (a > b) return Order::greater;
  return a == b ? Order::equal : Order::unordered;
}

/// false < true; NaN is unordered; -0 equals +0.
Order order_of(DType type, std::uint64_t a, std::uint64_t b) {
  switch (kind_of(type)) {
    case DTypeKind::floating:
      return order_of_numbers(double_from_bits(type, a), double_from_bits(type, b));
    case DTypeKind::signed_int:
      return order_of_numbers(static_cast<std::int64_t>(extend_from(type, a)),
                              static_cast<std::int64_t>(extend_from(type, b)));
    case DTypeKind::unsigned_int:
      return order_of_numbers(a, b);
    case DTypeKind::truth:
      return order_of_numbers(a != 0, b != 0);
  }
  return Order::unordered;
}

bool compare(Op op, Order order) {
  switch (op) {
    case Op::lt:
      return order == Order::less;
    case Op::le:
      return order == Order::less || order == Order::equal;
    case Op::gt:
      return order == Order::greater;
    case Op::ge:
      return order == Order::greater || order == Order::equal;
    case Op::eq:
      return order == Order::equal;
    default:
      return order != Order::equal;  // ne: true where unordered
  }
}

template <class T>
T arithmetic(Op op, T a, T b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    default:
      return a / b;
  }
}

/// A computed result. If it is a NaN, the language leaves open which one.
Element computed(DType type, std::uint64_t bits) { return {.bits = bits, .nan_open = is_nan(type, bits)}; }

Element float_arithmetic(Op op, DType type, std::uint64_t a, std::uint64_t b) {
  if (type == DType::f64) {
    const double result = arithmetic(op, std::bit_cast<double>(a), std::bit_cast<double>(b));
    return computed(type, std::bit_cast<std::uint64_t>(result));
  }
  const float result = arithmetic(op, float_from_bits(type, a), float_from_bits(type, b));
  return computed(type, bits_from_float(type, result));
}

template <class T>
T float_function(Op op, T x) {
  switch (op) {
    case Op::floor:
      return std::floor(x);
    case Op::ceil:
      return std::ceil(x);
    case Op::round:
      return std::nearbyint(x);  // half to even: nothing here changes the CPU's rounding mode
    default:
      return std::sqrt(x);
  }
}

Element float_function_of(Op op, DType type, std::uint64_t x) {
  if (type == DType::f64)
    return computed(type, std::bit_cast<std::uint64_t>(float_function(op, std::bit_cast<double>(x))));
  return computed(type, bits_from_float(type, float_function(op, float_from_bits(type, x))));
}

/// Unsigned, so that nothing overflows; the low bits are those of the signed result.
Element arithmetic_of(Op op, DType type, std::uint64_t a, std::uint64_t b) {
  if (is_float(type)) return float_arithmetic(op, type, a, b);
  return {.bits = truncate_to(type, arithmetic(op, a, op == Op::div && b == 0 ? std::uint64_t{1} : b))};
}

/// IEEE 754-2019 maximum and minimum: NaN if either is NaN, and +0 above -0. Else one of the operands, bit for bit.
Element extremum(Op op, DType type, const Element& a, const Element& b) {
  if (is_nan(type, a.bits) || is_nan(type, b.bits)) return computed(type, format_of(type).quiet_nan());
  const Order order = order_of(type, a.bits, b.bits);
  if (order == Order::equal && is_float(type)) {  // equal bits, or zeros of both signs
    const std::uint64_t bits = op == Op::maximum ? a.bits & b.bits : a.bits | b.bits;
    return {.bits = bits};
  }
  return (order == Order::greater) == (op == Op::maximum) ? a : b;
}

/// A literal zero of any type is all bits 0.
bool is_negative(DType type, std::uint64_t bits) { return order_of(type, bits, 0) == Order::less; }

Element negate(DType type, const Element& x) {
  if (is_float(type)) return {.bits = x.bits ^ format_of(type).sign_mask(), .nan_open = x.nan_open};
  return {.bits = truncate_to(type, 0 - x.bits)};
}

Element absolute(DType type, const Element& x) {
  if (is_float(type)) return {.bits = x.bits & ~format_of(type).sign_mask(), .nan_open = x.nan_open};
  return is_negative(type, x.bits) ? negate(type, x) : x;  // the least integer negates to itself
}

/// x < 0 ? -1 : x > 0 ? 1 : x, so that zeros and NaNs stay as they are.
Element sign(DType type, const Element& x) {
  const Order order = order_of(type, x.bits, 0);
  if (order != Order::less && order != Order::greater) return x;
  const std::uint64_t one = is_float(type) ? format_of(type).one() : 1;
  return order == Order::greater ? Element{.bits = one} : negate(type, {.bits = one});
}

Element clamp(DType type, const Element& x, const Element& lo, const Element& hi) {
  if (order_of(type, x.bits, lo.bits) == Order::less) return lo;
  return order_of(type, x.bits, hi.bits) == Order::greater ? hi : x;
}

Element cast(DType from, DType to, const Element& x) {
  if (from == to) return x;
  const std::uint64_t bits = convert(from, to, x.bits);
  return is_float(from) ? computed(to, bits) : Element{.bits = bits};
}

Element truth(bool value) { return {.bits = value ? 1U : 0U}; }

}  // namespace

bool same_element(DType dtype, const Element& expected, std::uint64_t actual_bits) {
  return expected.bits == actual_bits || (expected.nan_open && is_nan(dtype, actual_bits));
}

Element apply_elementwise(Op op, DType operand_type, DType result_type, std::span<const Element> operands) {
  const DType type = operand_type;
  const Element& x = operands[0];
  if (info_of(op).op_class == OpClass::activation)
    return computed(type, bits_from_float(type, activation_of(op, float_from_bits(type, x.bits))));
  switch (op) {
    case Op::relu:
      return is_negative(type, x.bits) ? Element{} : x;
    case Op::leaky_relu:
      return is_negative(type, x.bits) ? arithmetic_of(Op::mul, type, x.bits, operands[1].bits) : x;
    case Op::clamp:
      return clamp(type, x, operands[1], operands[2]);
    case Op::neg:
      return negate(type, x);
    case Op::abs:
      return absolute(type, x);
    case Op::sign:
      return sign(type, x);
    case Op::sqrt:
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return float_function_of(op, type, x.bits);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
      return arithmetic_of(op, type, x.bits, operands[1].bits);
    case Op::maximum:
    case Op::minimum:
      return extremum(op, type, x, operands[1]);
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::ne:
      return truth(compare(op, order_of(type, x.bits, operands[1].bits)));
    case Op::logical_and:
      return truth(x.bits != 0 && operands[1].bits != 0);
    case Op::logical_or:
      return truth(x.bits != 0 || operands[1].bits != 0);
    case Op::logical_not:
      return truth(x.bits == 0);
    case Op::select:
      return x.bits != 0 ? operands[1] : operands[2];
    case Op::cast:
      return cast(type, result_type, x);
    default:
      break;  // not called: data movement has no elements of its own
  }
  return x;
}

}  // namespace padlock::ir
