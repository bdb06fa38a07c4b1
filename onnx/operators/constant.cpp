// Operators that make tensors without inputs, or pass an input on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "onnx/element_types.h"
#include "onnx/limits.h"
#include "onnx/operators/movement.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {
namespace {

using ir::DType;

std::uint64_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }

/// Returns a constant from an attribute: a tensor, a number or a list of numbers.
Result<Elements> attribute_elements(NodeImport& node) {
  Elements elements;
  if (const Attribute* const value = node.attribute("value")) {
    if (!value->tensor) return refused("its value is no tensor");
    return node.elements().read(*value->tensor);
  }
  if (const Attribute* const number = node.attribute("value_float")) {
    elements.bits = {bits_of(number->number)};
  } else if (const Attribute* const integer = node.attribute("value_int")) {
    elements.dtype = DType::i64;
    elements.bits = {static_cast<std::uint64_t>(integer->integer)};
  } else if (const Attribute* const numbers = node.attribute("value_floats")) {
    for (const float one : numbers->numbers) elements.bits.push_back(bits_of(one));
    elements.dims = {static_cast<std::int64_t>(elements.bits.size())};
  } else if (const Attribute* const integers = node.attribute("value_ints")) {
    elements.dtype = DType::i64;
    elements.bits.assign(integers->integers.begin(), integers->integers.end());
    elements.dims = {static_cast<std::int64_t>(elements.bits.size())};
  } else {
    return refused("it has no value that is a tensor or numbers");
  }
  elements.count = elements.bits.size();
  if (std::ranges::adjacent_find(elements.bits, std::ranges::not_equal_to()) == elements.bits.end())
    elements.bits.resize(std::min<std::size_t>(elements.count, 1));
  return elements;
}

}  // namespace

Status import_identity(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  node.finish(*value);
  return {};
}

Status import_dropout(NodeImport& node) {
  PADLOCK_TRY(const Value* const value, node.input(0));
  if (node.has_input(2)) {
    PADLOCK_TRY(const auto trains, node.literal_list(2, "the training mode"));
    if (trains != std::vector<std::int64_t>{0}) return refused("it trains");
  }
  node.finish(*value);
  if (node.wants(1)) {
    Value mask = constant_value(Elements{.dtype = DType::boolean, .dims = {}, .count = 1, .bits = {1}}, node.sizes());
    mask.shape = value->shape;
    mask.sizes.reset();
    node.finish(std::move(mask), 1);
  }
  return {};
}

Status import_constant(NodeImport& node) {
  PADLOCK_TRY(Elements elements, attribute_elements(node));
  node.finish(constant_value(std::move(elements), node.sizes()));
  return {};
}

Status import_constant_of_shape(NodeImport& node) {
  PADLOCK_TRY(std::vector<Expr> shape, node.size_list(0, "the shape"));
  Elements one{.dtype = DType::f32, .dims = {}, .count = 1, .bits = {0}};
  if (const Attribute* const value = node.attribute("value")) {
    if (!value->tensor) return refused("its value is no tensor");
    PADLOCK_TRY(one, node.elements().read(*value->tensor));
    if (one.count != 1) return refused(fmt::format("a value of {} elements", one.count));
  }
  for (const Expr n : shape)
    if (node.sizes().is_negative_always(n)) return refused("a negative extent");
  Value value = constant_value(std::move(one), node.sizes());
  std::vector<std::int64_t> dims;
  for (const Expr n : shape)
    if (const auto number = literal(n)) dims.push_back(*number);
  const auto count = dims.size() == shape.size() ? size_count(dims) : std::nullopt;
  if (value.sizes && count) {
    value.sizes->assign(*count, value.sizes->at(0));
  } else {
    value.sizes.reset();
  }
  value.shape = std::move(shape);
  node.finish(std::move(value));
  return {};
}

/// Makes coordinates, scaled and shifted. The number of elements is a size, so start and step must be literals.
Status import_range(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(const Value* const value, node.input(0));
  const DType dtype = value->dtype;
  if (dtype != DType::i64 && dtype != DType::i32) return refused(fmt::format("a range of {}", name_of(dtype)));
  PADLOCK_TRY(const auto start, node.size_list(0, "the start"));
  PADLOCK_TRY(const auto limit, node.size_list(1, "the limit"));
  PADLOCK_TRY(const auto step, node.literal_list(2, "the step"));
  if (start.size() != 1 || limit.size() != 1 || step.size() != 1 || step[0] == 0 || !literal(sizes.constant(step[0])))
    return refused("its start, limit and step are not one number each");
  const Expr by = sizes.constant(step[0]);
  const Expr distance = step[0] > 0 ? sizes.sub(limit[0], start[0]) : sizes.sub(start[0], limit[0]);
  const Expr count = sizes.max(sizes.ceildiv(distance, sizes.abs(by)), sizes.constant(0));
  if (const auto number = literal(count); number && *number <= static_cast<std::int64_t>(limits::kSizes)) {
    SizeArray array{.dims = {*number}, .elements = {}};
    for (std::int64_t i = 0; i < *number; ++i)
      array.elements.push_back(sizes.add(start[0], sizes.mul(by, sizes.constant(i))));
    node.finish(std::move(array), dtype);
    return {};
  }
  const auto first = literal(start[0]);
  if (!first) return refused("its start is no constant");
  const std::string steps =
      node.part(fmt::format("iota({}, shape = [{}], axis = 0)", name_of(dtype), sizes.text(count)));
  const std::string scaled = node.part(fmt::format("mul({}, {})", steps, step[0]));
  node.finish(fmt::format("add({}, {})", scaled, *first), dtype, {count});
  return {};
}

}  // namespace padlock::onnx
