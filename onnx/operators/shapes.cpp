#include "onnx/operators/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "onnx/limits.h"

namespace padlock::onnx {

Result<std::vector<Expr>> broadcast_shape(SizeMath& sizes, std::span<Value* const> values) {
  std::vector<Expr> shape;
  for (const Value* const value : values) {
    if (value->shape.size() > shape.size())
      shape.insert(shape.begin(), value->shape.size() - shape.size(), sizes.constant(1));
    const std::size_t first = shape.size() - value->shape.size();
    for (std::size_t axis = 0; axis < value->shape.size(); ++axis) {
      Expr& extent = shape[first + axis];
      const Expr other = value->shape[axis];
      if (extent == other || sizes.is_one(other)) continue;
      if (extent.is_constant() && !sizes.is_one(extent) && other.is_constant())
        return refused(fmt::format("extents {} and {} do not broadcast", sizes.text(extent), sizes.text(other)));
      if (sizes.is_one(extent) || other.is_constant()) extent = other;
    }
  }
  return shape;
}

Result<Operands> broadcast_operands(NodeImport& node, std::span<Value* const> values) {
  PADLOCK_TRY(std::vector<Expr> shape, broadcast_shape(node.sizes(), values));
  std::vector<Value*> tensors;
  for (Value* const value : values)
    if (!node.scalar(*value)) tensors.push_back(value);
  // A literal has no extents. It serves if the other operands alone have the result's.
  PADLOCK_TRY(const std::vector<Expr> others, broadcast_shape(node.sizes(), tensors));
  PADLOCK_TRY(std::vector<std::string> names, node.operands(values, others == shape));
  return Operands{std::move(names), std::move(shape)};
}

Status finish_reshaped(NodeImport& node, Value& value, std::vector<Expr> shape, std::size_t output) {
  const bool is_literal = std::ranges::all_of(shape, [](Expr e) { return e.is_constant(); });
  if (value.constant != nullptr || ((value.sizes || value.fractions) && is_literal)) {
    Value same = value;
    std::vector<std::int64_t> dims;
    for (const Expr n : shape) dims.push_back(literal(n).value_or(-1));
    const std::size_t count = same.fractions ? same.fractions->size() : same.sizes ? same.sizes->size() : 0;
    if ((same.sizes || same.fractions) && is_literal && size_count(dims) != count)
      return refused(fmt::format("{} elements in the shape {}", count, node.sizes().text(shape)));
    same.shape = std::move(shape);
    same.name.clear();
    if (!is_literal) same.sizes.reset();
    node.finish(std::move(same), output);
    return {};
  }
  PADLOCK_TRY(const std::string tensor, node.tensor(value));
  node.finish(fmt::format("reshape({}, shape = {})", tensor, node.sizes().text(shape)), value.dtype, shape, output);
  return {};
}

std::optional<std::size_t> size_count(std::span<const std::int64_t> dims) {
  if (dims.size() > limits::kRank || std::ranges::any_of(dims, [](std::int64_t n) { return n < 0; }))
    return std::nullopt;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::size_t count = 1;
  for (const std::int64_t n : dims) {
    if (static_cast<std::uint64_t>(n) > limits::kSizes / count) return std::nullopt;
    count *= static_cast<std::size_t>(n);
  }
  return count;
}

std::vector<std::int64_t> coordinates_of(std::size_t flat, std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> coordinates(dims.size());
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    const auto n = static_cast<std::size_t>(dims[axis]);
    coordinates[axis] = static_cast<std::int64_t>(flat % n);
    flat /= n;
  }
  return coordinates;
}

std::size_t flat_of(std::span<const std::int64_t> coordinates, std::span<const std::int64_t> dims) {
  std::size_t flat = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    flat = flat * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(coordinates[axis]);
  return flat;
}

}  // namespace padlock::onnx
