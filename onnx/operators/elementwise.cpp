#include "onnx/operators/elementwise.h"

#include <fmt/format.h>

#include <array>

#include "onnx/element_types.h"
#include "onnx/operators/fractions.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {
namespace {

using ir::DType;
using ir::Op;
using ir::OpClass;

bool takes(OpClass op_class, DType dtype) {
  switch (op_class) {
    case OpClass::unary:
    case OpClass::binary:
    case OpClass::with_scalars:
      return dtype != DType::boolean;
    case OpClass::floating1:
    case OpClass::floating2:
      return is_float(dtype);
    case OpClass::activation:
      return is_float(dtype) && dtype != DType::f64;
    case OpClass::logical1:
    case OpClass::logical2:
      return dtype == DType::boolean;
    default:
      return true;
  }
}

Result<std::vector<Value*>> all_inputs(NodeImport& node) {
  if (node.input_count() == 0) return refused("it has no input");
  std::vector<Value*> values;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    PADLOCK_TRY(values.emplace_back(), node.input(i));
    if (values[i]->dtype != values[0]->dtype)
      return refused(
          fmt::format("its inputs are of the types {} and {}", name_of(values[0]->dtype), name_of(values[i]->dtype)));
  }
  return values;
}

/// Makes op(op(a, b), c) and so on. The last operation is the result; or `after`, applied to it.
Status import_chain(NodeImport& node, Op op, std::string_view after = {}) {
  PADLOCK_TRY(const auto values, all_inputs(node));
  const DType dtype = values[0]->dtype;
  PADLOCK_CHECK(check_type(op, dtype));
  PADLOCK_TRY(const Operands operands, broadcast_operands(node, values));
  std::string sum = operands.names[0];
  for (std::size_t i = 1; i < operands.names.size(); ++i) {
    const std::string text = fmt::format("{}({}, {})", name_of(op), sum, operands.names[i]);
    if (after.empty() && i + 1 == operands.names.size()) {
      node.finish(text, dtype, operands.shape);
      return {};
    }
    sum = node.part(text);
  }
  node.finish(after.empty() ? fmt::format("cast({}, {})", sum, name_of(dtype)) : fmt::format("div({}, {})", sum, after),
              dtype, operands.shape);
  return {};
}

/// Divides integers of up to 32 bits, rounded towards zero. Division in f64 suffices: its error is below the distance
/// of a quotient from the next integer.
Result<std::string> integer_quotient(NodeImport& node, const Operands& operands, DType dtype) {
  if (ir::bit_width(dtype) > 32) return refused(fmt::format("quotients of {} are not exact in f64", name_of(dtype)));
  const std::string a = node.part(fmt::format("cast({}, f64)", operands.names[0]));
  const std::string b = node.part(fmt::format("cast({}, f64)", operands.names[1]));
  return fmt::format("cast({}, {})", node.part(fmt::format("div({}, {})", a, b)), name_of(dtype));
}

struct Pair {
  DType dtype;
  Operands operands;
};
Result<Pair> two_inputs(NodeImport& node) {
  PADLOCK_TRY(const auto values, all_inputs(node));
  if (values.size() != 2) return refused(fmt::format("it has {} inputs, expected 2", values.size()));
  PADLOCK_TRY(Operands operands, broadcast_operands(node, values));
  return Pair{values[0]->dtype, std::move(operands)};
}

}  // namespace

Status check_type(Op op, DType dtype) {
  if (takes(info_of(op).op_class, dtype)) return {};
  return refused(fmt::format("'{}' does not take {}", name_of(op), name_of(dtype)));
}

Status import_operation(NodeImport& node, Op op) {
  PADLOCK_TRY(const auto values, all_inputs(node));
  if (static_cast<int>(values.size()) != info_of(op).arity)
    return refused(fmt::format("it has {} inputs, expected {}", values.size(), info_of(op).arity));
  const DType dtype = values[0]->dtype;
  PADLOCK_CHECK(check_type(op, dtype));
  PADLOCK_TRY(const Operands operands, broadcast_operands(node, values));
  const bool compares = info_of(op).op_class == OpClass::comparison;
  node.finish(fmt::format("{}({})", name_of(op), fmt::join(operands.names, ", ")), compares ? DType::boolean : dtype,
              operands.shape);
  return {};
}

Status import_div(NodeImport& node) {
  PADLOCK_TRY(const Pair pair, two_inputs(node));
  if (!is_integer(pair.dtype)) return import_operation(node, Op::div);
  PADLOCK_TRY(const std::string quotient, integer_quotient(node, pair.operands, pair.dtype));
  node.finish(quotient, pair.dtype, pair.operands.shape);
  return {};
}

Status import_mod(NodeImport& node) {
  PADLOCK_TRY(const Pair pair, two_inputs(node));
  if (!is_integer(pair.dtype)) return refused("remainders of floats");
  const auto& [a, b] = std::pair(pair.operands.names[0], pair.operands.names[1]);
  PADLOCK_TRY(const std::string quotient, integer_quotient(node, pair.operands, pair.dtype));
  const std::string whole = node.part(fmt::format("mul({}, {})", node.part(quotient), b));
  const std::string rest = fmt::format("sub({}, {})", a, whole);
  if (node.integer("fmod", 0) != 0 || !is_signed(pair.dtype)) {
    node.finish(rest, pair.dtype, pair.operands.shape);
    return {};
  }
  // The result has the divisor's sign: the divisor is added to a remainder of the other sign.
  const std::string remainder = node.part(rest);
  const std::string zero = fmt::format("{}(0)", name_of(pair.dtype));
  const std::string product = node.part(
      fmt::format("mul({}, {})", node.part(fmt::format("sign({})", remainder)), node.part(fmt::format("sign({})", b))));
  const std::string differs = node.part(fmt::format("lt({}, {})", product, zero));
  const std::string moved = node.part(fmt::format("add({}, {})", remainder, b));
  node.finish(fmt::format("select({}, {}, {})", differs, moved, remainder), pair.dtype, pair.operands.shape);
  return {};
}

Status import_xor(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  PADLOCK_CHECK(check_type(Op::logical_or, value->dtype));
  return import_operation(node, Op::ne);
}

Status import_where(NodeImport& node) {
  std::array<Value*, 3> values = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    PADLOCK_TRY(values[i], node.input(i));
  }
  PADLOCK_TRY(const Operands operands, broadcast_operands(node, values));
  node.finish(fmt::format("select({})", fmt::join(operands.names, ", ")), values[1]->dtype, operands.shape);
  return {};
}

Status import_max(NodeImport& node) { return import_chain(node, Op::maximum); }
Status import_min(NodeImport& node) { return import_chain(node, Op::minimum); }
Status import_sum(NodeImport& node) { return import_chain(node, Op::add); }
Status import_mean(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  PADLOCK_CHECK(check_type(Op::div, value->dtype));
  return import_chain(node, Op::add, std::to_string(node.input_count()));
}

Status import_is_nan(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  node.finish(fmt::format("ne({0}, {0})", x), DType::boolean, value->shape);
  return {};
}

Status import_is_inf(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_CHECK(check_type(Op::sqrt, value->dtype));
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  const bool above = node.integer("detect_positive", 1) != 0, below = node.integer("detect_negative", 1) != 0;
  std::string text = fmt::format("eq({}, {})", x, above ? "inf" : "-inf");
  if (above && below) text = fmt::format("eq({}, inf)", node.part(fmt::format("abs({})", x)));
  if (!above && !below) text = fmt::format("lt({}, -inf)", x);  // without bounds nothing is: the result is false
  node.finish(text, DType::boolean, value->shape);
  return {};
}

namespace {

Status finish_cast(NodeImport& node, DType to) {
  PADLOCK_TRY(Value* const value, node.input(0));
  const bool says_sizes = to == DType::i64 || to == DType::i32;
  if (value->sizes && says_sizes && value->dtype != DType::boolean) {
    Value same = *value;
    same.dtype = to;
    same.name.clear();
    same.constant.reset();
    node.finish(std::move(same));
    return {};
  }
  const bool is_number = (value->sizes && value->dtype != DType::boolean) || node.has_fractions_alone();
  if (node.says_sizes() && is_number && (says_sizes || is_float(to))) return fold_fraction_cast(node, to);
  const std::array values = {value};
  PADLOCK_TRY(const Operands operands, broadcast_operands(node, values));
  node.finish(fmt::format("cast({}, {})", operands.names[0], name_of(to)), to, operands.shape);
  return {};
}

}  // namespace

Status import_cast(NodeImport& node) {
  const std::int64_t to = node.integer("to", 0);
  if (const auto dtype = element_type(to)) return finish_cast(node, *dtype);
  return refused(fmt::format("a cast to {}", name_of_type(to)));
}

Status import_cast_like(NodeImport& node) {
  PADLOCK_TRY(const Value* const like, node.input(1));
  return finish_cast(node, like->dtype);
}

}  // namespace padlock::onnx
