// Operators that move elements.
#include "onnx/operators/movement.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "onnx/operators/shapes.h"

namespace padlock::onnx {
namespace {

using Sizes = std::vector<Expr>;

Status fold_expand(NodeImport& node, const Value& value, std::vector<std::int64_t> dims) {
  PADLOCK_TRY(const SizeArray array, node.size_array(0));
  const std::size_t added = dims.size() - array.dims.size();
  PADLOCK_TRY(SizeArray result, mapped(array, std::move(dims), [&](std::vector<std::int64_t> at) {
                at.erase(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(added));
                for (std::size_t axis = 0; axis < at.size(); ++axis)
                  if (array.dims[axis] == 1) at[axis] = 0;
                return at;
              }));
  node.finish(std::move(result), value.dtype);
  return {};
}

}  // namespace

Status import_expand(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(Sizes wanted, node.size_list(1, "the shape"));
  Value like{.dtype = value->dtype, .shape = std::move(wanted), .name = {}, .sizes = {}, .constant = {}};
  const std::array values = {value, &like};
  PADLOCK_TRY(Sizes shape, broadcast_shape(node.sizes(), values));
  std::vector<std::int64_t> dims;
  for (const Expr n : shape)
    if (const auto number = literal(n)) dims.push_back(*number);
  if (value->sizes && dims.size() == shape.size()) return fold_expand(node, *value, std::move(dims));
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  std::vector<std::size_t> axes(value->shape.size());
  std::iota(axes.begin(), axes.end(), shape.size() - axes.size());
  node.finish(fmt::format("broadcast({}, shape = {}, axes = [{}])", x, node.sizes().text(shape), fmt::join(axes, ", ")),
              value->dtype, shape);
  return {};
}

namespace {

Status fold_concat(NodeImport& node, std::size_t axis) {
  std::vector<SizeArray> arrays;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    PADLOCK_TRY(arrays.emplace_back(), node.size_array(i));
    if (arrays[i].dims.size() != arrays[0].dims.size()) return refused("its inputs have different ranks");
    if (i == 0) dims = arrays[0].dims;
    if (i > 0) dims[axis] += arrays[i].dims[axis];
    for (std::size_t other = 0; other < dims.size(); ++other)
      if (other != axis && arrays[i].dims[other] != dims[other]) return refused("its inputs have different extents");
  }
  const auto count = size_count(dims);
  if (!count) return refused("sizes of too many elements");
  SizeArray result{.dims = dims, .elements = {}};
  for (std::size_t i = 0; i < *count; ++i) {
    std::vector<std::int64_t> at = coordinates_of(i, dims);
    const SizeArray* from = arrays.data();
    while (at[axis] >= from->dims[axis]) at[axis] -= (from++)->dims[axis];
    result.elements.push_back(from->elements[flat_of(at, from->dims)]);
  }
  node.finish(std::move(result), node.input(0).value()->dtype);
  return {};
}

}  // namespace

Status import_concat(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(const Value* const first, node.input(0));
  PADLOCK_TRY(const std::size_t axis, node.axis(node.integer("axis", 0), first->shape.size()));
  if (node.has_sizes_alone()) return fold_concat(node, axis);
  std::vector<std::string> names;
  Sizes shape = first->shape;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    PADLOCK_TRY(Value* const value, node.input(i));
    if (value->shape.size() != shape.size()) return refused("its inputs have different ranks");
    PADLOCK_TRY(names.emplace_back(), node.tensor(*value));
    if (i > 0) shape[axis] = sizes.add(shape[axis], value->shape[axis]);
  }
  node.finish(fmt::format("concat({}, axis = {})", fmt::join(names, ", "), axis), first->dtype, shape);
  return {};
}

Status import_transpose(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  const std::size_t rank = value->shape.size();
  std::vector<std::int64_t> perm;
  for (std::size_t axis = rank; axis-- > 0;) perm.push_back(static_cast<std::int64_t>(axis));
  if (const Attribute* const attribute = node.attribute("perm")) perm = attribute->integers;
  PADLOCK_TRY(const auto axes, node.axes(perm, rank));
  if (axes.size() != rank) return refused(fmt::format("it permutes {} of {} axes", axes.size(), rank));
  if (value->sizes) {
    PADLOCK_TRY(const SizeArray array, node.size_array(0));
    std::vector<std::int64_t> dims;
    for (const std::size_t axis : axes) dims.push_back(array.dims[axis]);
    PADLOCK_TRY(SizeArray result, mapped(array, dims, [&](const std::vector<std::int64_t>& at) {
                  std::vector<std::int64_t> from(rank);
                  for (std::size_t axis = 0; axis < rank; ++axis) from[axes[axis]] = at[axis];
                  return from;
                }));
    node.finish(std::move(result), value->dtype);
    return {};
  }
  Sizes shape;
  for (const std::size_t axis : axes) shape.push_back(value->shape[axis]);
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  node.finish(fmt::format("transpose({}, perm = [{}])", x, fmt::join(axes, ", ")), value->dtype, shape);
  return {};
}

/// Keeps the elements on one side of a diagonal; their coordinates decide.
Status import_trilu(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  const std::size_t rank = value->shape.size();
  if (rank < 2) return refused(fmt::format("a tensor of rank {}", rank));
  std::vector<std::int64_t> diagonal = {0};
  if (node.has_input(1)) {
    PADLOCK_TRY(diagonal, node.literal_list(1, "the diagonal"));
  }
  if (diagonal.size() != 1) return refused("more than one diagonal");
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  const Sizes matrix(value->shape.end() - 2, value->shape.end());
  const std::string row = node.part(fmt::format("iota(i64, shape = {}, axis = 0)", sizes.text(matrix)));
  const std::string column = node.part(fmt::format("iota(i64, shape = {}, axis = 1)", sizes.text(matrix)));
  const std::string shifted = node.part(fmt::format("sub({}, {})", column, row));
  const bool upper = node.integer("upper", 1) != 0;
  const std::string kept = node.part(fmt::format("{}({}, {})", upper ? "ge" : "le", shifted, diagonal[0]));
  node.finish(fmt::format("select({}, {}, 0)", kept, x), value->dtype, value->shape);
  return {};
}

}  // namespace padlock::onnx
