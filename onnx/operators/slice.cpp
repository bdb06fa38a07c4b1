// Operators that take parts of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/limits.h"
#include "onnx/operators/movement.h"
#include "onnx/operators/shapes.h"
#include "support/int128.h"

namespace padlock::onnx {
namespace {

using ir::DType;

using Sizes = std::vector<Expr>;

/// A slice's attributes, one entry for each axis.
struct Window {
  Sizes start, limit;
  std::vector<std::int64_t> step;
};

Window whole(SizeMath& sizes, const Sizes& extents) {
  return {Sizes(extents.size(), sizes.constant(0)), extents, std::vector<std::int64_t>(extents.size(), 1)};
}

/// Returns a position of an axis within [0, n]. A negative one counts from the end.
Expr position(SizeMath& sizes, Expr given, Expr n) {
  const Expr zero = sizes.constant(0);
  if (sizes.is_nonnegative(given)) return sizes.min(given, n);
  if (sizes.is_negative_always(given)) return sizes.max(sizes.add(n, given), zero);
  const Expr moved = sizes.add(given, sizes.mul(n, sizes.is_negative(given)));
  return sizes.min(sizes.max(moved, zero), n);
}

/// Returns given + 1, within [least, n], or n if n < least; a negative `given` counts from the end. In forward order a
/// backward slice takes the positions from end + 1 to start + 1.
Expr position_behind(SizeMath& sizes, Expr given, Expr n, std::int64_t least) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // beyond every axis
  const Expr lowest = sizes.constant(least), one = sizes.constant(1);
  if (const auto number = literal(given)) {
    if (*number == -1 || *number >= kFar) return n;
    if (*number <= -kFar) return sizes.min(lowest, n);
    if (*number >= 0) return sizes.min(sizes.constant(*number + 1), n);
    return sizes.min(sizes.max(sizes.add(sizes.add(n, given), one), lowest), n);
  }
  const Expr moved = sizes.add(given, sizes.mul(n, sizes.is_negative(given)));
  return sizes.min(sizes.max(sizes.add(moved, one), lowest), n);
}

std::string slice_text(SizeMath& sizes, const std::string& x, const Window& window) {
  std::string text =
      fmt::format("slice({}, start = {}, limit = {}", x, sizes.text(window.start), sizes.text(window.limit));
  if (std::ranges::any_of(window.step, [](std::int64_t step) { return step != 1; }))
    text += fmt::format(", step = [{}]", fmt::join(window.step, ", "));
  return text + ")";
}

Sizes extents_of(SizeMath& sizes, const Window& window) {
  Sizes extents;
  for (std::size_t axis = 0; axis < window.start.size(); ++axis)
    extents.push_back(
        sizes.ceildiv(sizes.sub(window.limit[axis], window.start[axis]), sizes.constant(window.step[axis])));
  return extents;
}

/// Starts, ends, axes and steps of a Slice, from attributes or inputs as its version has them.
struct SliceArguments {
  Sizes starts, ends;
  std::vector<std::int64_t> axes, steps;
};

Result<SliceArguments> slice_arguments(NodeImport& node) {
  SliceArguments result;
  if (node.opset() < 10) {
    const Attribute* const starts = node.attribute("starts");
    const Attribute* const ends = node.attribute("ends");
    if (starts == nullptr || ends == nullptr) return refused("it has no starts or no ends");
    for (const std::int64_t number : starts->integers) result.starts.push_back(node.sizes().constant(number));
    for (const std::int64_t number : ends->integers) result.ends.push_back(node.sizes().constant(number));
    if (const Attribute* const axes = node.attribute("axes")) result.axes = axes->integers;
  } else {
    PADLOCK_TRY(result.starts, node.size_list(1, "the starts"));
    PADLOCK_TRY(result.ends, node.size_list(2, "the ends"));
    if (node.has_input(3)) {
      PADLOCK_TRY(result.axes, node.literal_list(3, "the axes"));
    }
    if (node.has_input(4)) {
      PADLOCK_TRY(result.steps, node.literal_list(4, "the steps"));
    }
  }
  const std::size_t count = result.starts.size();
  if (result.axes.empty())
    for (std::size_t i = 0; i < count; ++i) result.axes.push_back(static_cast<std::int64_t>(i));
  if (result.steps.empty()) result.steps.assign(count, 1);
  if (result.ends.size() != count || result.axes.size() != count || result.steps.size() != count)
    return refused("its starts, ends, axes and steps are not equally many");
  return result;
}

/// Slices sizes; steps may be negative.
Status fold_slice(NodeImport& node, const SliceArguments& arguments, std::span<const std::size_t> axes) {
  PADLOCK_TRY(const SizeArray array, node.size_array(0));
  std::vector<std::int64_t> dims = array.dims, first(dims.size(), 0), step(dims.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t n = array.dims[axes[i]], by = arguments.steps[i];
    const auto start = literal(arguments.starts[i]), end = literal(arguments.ends[i]);
    if (!start || !end || by == 0 || by == std::numeric_limits<std::int64_t>::min())
      return refused("a part of sizes whose place is no constant");
    const auto moved = [&](std::int64_t given) {
      return std::clamp<std::int64_t>(given < 0 ? std::max<std::int64_t>(given + n, -1) : given, by < 0 ? -1 : 0,
                                      by < 0 ? n - 1 : n);
    };
    // A backward slice begins within the axis, unless the axis is empty.
    const std::int64_t from = by < 0 && n > 0 ? std::max<std::int64_t>(moved(*start), 0) : moved(*start);
    const std::int64_t to = moved(*end);
    first[axes[i]] = from;
    step[axes[i]] = by;
    const std::int64_t distance = by < 0 ? from - to : to - from, size = by < 0 ? -by : by;
    dims[axes[i]] = distance <= 0 ? 0 : (distance - 1) / size + 1;
  }
  PADLOCK_TRY(SizeArray result, mapped(array, dims, [&](std::vector<std::int64_t> at) {
                for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] = first[axis] + at[axis] * step[axis];
                return at;
              }));
  node.finish(std::move(result), node.input(0).value()->dtype);
  return {};
}

/// Reverses some axes of the part: mirrors each at its end and cuts off the original.
Status finish_reversed(NodeImport& node, Value& value, const Window& part, std::span<const std::int64_t> backward) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(const std::string x, node.tensor(value));
  const Sizes extents = extents_of(sizes, part);
  Window window = whole(sizes, extents);
  Sizes low(extents.size(), sizes.constant(0)), high = low;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (backward[axis] == 0) continue;
    high[axis] = window.start[axis] = extents[axis];
    window.limit[axis] = sizes.add(extents[axis], extents[axis]);
    window.step[axis] = backward[axis];
  }
  const std::string mirrored =
      node.part(fmt::format("pad({}, low = {}, high = {}, mode = symmetric)", node.part(slice_text(sizes, x, part)),
                            sizes.text(low), sizes.text(high)));
  node.finish(slice_text(sizes, mirrored, window), value.dtype, extents_of(sizes, window));
  return {};
}

}  // namespace

Status import_slice(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const SliceArguments arguments, slice_arguments(node));
  PADLOCK_TRY(const auto axes, node.axes(arguments.axes, value->shape.size()));
  if (value->sizes) return fold_slice(node, arguments, axes);
  Window window = whole(sizes, value->shape);
  std::vector<std::int64_t> backward(value->shape.size(), 0);  // steps, as positive numbers
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr n = value->shape[axes[i]];
    const std::int64_t step = arguments.steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
      return refused(fmt::format("a step of {}", step));
    if (step < 0) {
      backward[axes[i]] = -step;
      window.start[axes[i]] = position_behind(sizes, arguments.ends[i], n, 0);
      window.limit[axes[i]] = sizes.max(position_behind(sizes, arguments.starts[i], n, 1), window.start[axes[i]]);
      continue;
    }
    window.start[axes[i]] = position(sizes, arguments.starts[i], n);
    window.limit[axes[i]] = sizes.max(position(sizes, arguments.ends[i], n), window.start[axes[i]]);
    window.step[axes[i]] = arguments.steps[i];
  }
  if (std::ranges::any_of(backward, [](std::int64_t step) { return step != 0; }))
    return finish_reversed(node, *value, window, backward);
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  node.finish(slice_text(sizes, x, window), value->dtype, extents_of(sizes, window));
  return {};
}

namespace {

/// Returns the ends of a Split's parts along its axis.
Result<Sizes> split_ends(NodeImport& node, Expr n) {
  SizeMath& sizes = node.sizes();
  const std::size_t count = node.node().outputs.size();
  Sizes lengths;
  if (const Attribute* const attribute = node.attribute("split")) {
    for (const std::int64_t number : attribute->integers) lengths.push_back(sizes.constant(number));
  } else if (node.has_input(1)) {
    PADLOCK_TRY(lengths, node.size_list(1, "the lengths"));
  } else {
    if (count == 0 || count > limits::kSizes) return refused(fmt::format("{} parts", count));
    lengths.assign(count, sizes.ceildiv(n, sizes.constant(static_cast<std::int64_t>(count))));
  }
  if (lengths.size() != count) return refused(fmt::format("{} lengths for {} outputs", lengths.size(), count));
  Sizes ends;
  for (const Expr length : lengths)
    ends.push_back(sizes.min(sizes.add(ends.empty() ? sizes.constant(0) : ends.back(), length), n));
  return ends;
}

}  // namespace

Status import_split(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const std::size_t axis, node.axis(node.integer("axis", 0), value->shape.size()));
  PADLOCK_TRY(const Sizes ends, split_ends(node, value->shape[axis]));
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  Window window = whole(sizes, value->shape);
  window.limit[axis] = sizes.constant(0);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    window.start[axis] = window.limit[axis];
    window.limit[axis] = ends[i];
    if (node.wants(i)) node.finish(slice_text(sizes, x, window), value->dtype, extents_of(sizes, window), i);
  }
  return {};
}

namespace {

Status fold_gather(NodeImport& node, std::size_t axis, std::span<const std::int64_t> indices,
                   std::span<const std::int64_t> index_dims) {
  PADLOCK_TRY(const SizeArray array, node.size_array(0));
  std::vector<std::int64_t> dims(array.dims.begin(), array.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), index_dims.begin(), index_dims.end());
  dims.insert(dims.end(), array.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, array.dims.end());
  const std::int64_t n = array.dims[axis];
  for (const std::int64_t index : indices)
    if (index < -n || index >= n) return refused(fmt::format("index {} of an axis of extent {}", index, n));
  PADLOCK_TRY(SizeArray result, mapped(array, dims, [&](const std::vector<std::int64_t>& at) {
                std::vector<std::int64_t> from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis));
                const std::int64_t index = indices[flat_of(std::span(at).subspan(axis, index_dims.size()), index_dims)];
                from.push_back(index < 0 ? index + n : index);
                from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(axis + index_dims.size()), at.end());
                return from;
              }));
  node.finish(std::move(result), node.input(0).value()->dtype);
  return {};
}

/// Makes one slice for each run of consecutive indices.
std::vector<std::string> runs(NodeImport& node, const std::string& x, const Sizes& extents, std::size_t axis,
                              std::span<const std::int64_t> indices) {
  SizeMath& sizes = node.sizes();
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < indices.size() && parts.size() <= limits::kLiterals;) {
    std::size_t end = begin + 1;
    while (end < indices.size() && checked_add<std::int64_t>(indices[end - 1], 1) == indices[end] && indices[end] != 0)
      ++end;
    Window window = whole(sizes, extents);
    const Expr first = sizes.constant(indices[begin]);
    window.start[axis] = indices[begin] < 0 ? sizes.add(extents[axis], first) : first;
    window.limit[axis] = sizes.add(window.start[axis], sizes.constant(static_cast<std::int64_t>(end - begin)));
    parts.push_back(node.part(slice_text(sizes, x, window)));
    begin = end;
  }
  return parts;
}

/// Adds the extent to negative indices, which count from the end. Returns the name of the sum, an i64.
std::string counted_from_the_end(NodeImport& node, std::string index, DType dtype, Expr extent) {
  if (dtype != DType::i64) index = node.part(fmt::format("cast({}, i64)", index));
  const std::string from_end = node.part(fmt::format("add({}, i64({}))", index, node.sizes().text(extent)));
  const std::string is_negative = node.part(fmt::format("lt({}, 0)", index));
  return node.part(fmt::format("select({}, {}, {})", is_negative, from_end, index));
}

Result<std::string> index_tensor(NodeImport& node, Value& index) {
  if (index.dtype != DType::i64 && index.dtype != DType::i32)
    return refused(fmt::format("indices of {}", name_of(index.dtype)));
  return node.tensor(index);
}

/// Returns the extents of a gather's result: `first` axes of the value, the shape of the index, then the value's axes
/// after the `count` gathered ones.
Sizes taken_extents(const Value& value, std::size_t first, std::size_t count, std::span<const Expr> index) {
  Sizes extents(value.shape.begin(), value.shape.begin() + static_cast<std::ptrdiff_t>(first));
  extents.insert(extents.end(), index.begin(), index.end());
  extents.insert(extents.end(), value.shape.begin() + static_cast<std::ptrdiff_t>(first + count), value.shape.end());
  return extents;
}

/// Imports a Gather whose index is data. ONNX leaves the result of an index out of range open; Padlock gives 0.
Status gather_by_data(NodeImport& node, Value& value, std::size_t axis) {
  PADLOCK_TRY(Value* const index, node.input(1));
  PADLOCK_TRY(const std::string x, node.tensor(value));
  PADLOCK_TRY(const std::string stated, index_tensor(node, *index));
  const std::string counted = counted_from_the_end(node, stated, index->dtype, value.shape[axis]);
  node.finish(fmt::format("take({}, {}, axis = {})", x, counted, axis), value.dtype,
              taken_extents(value, axis, 1, index->shape));
  return {};
}

}  // namespace

Status import_gather_nd(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(Value* const index, node.input(1));
  const std::int64_t batch = node.integer("batch_dims", 0);
  if (batch < 0 || batch >= std::ssize(index->shape)) return refused("batch_dims beyond the rank of the indices");
  const auto count = literal(index->shape.back());
  if (!count || *count < 1 || batch + *count > std::ssize(value->shape))
    return refused("indices whose last extent is no literal from 1 to the rank of the data");
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  PADLOCK_TRY(const std::string stated, index_tensor(node, *index));
  const std::span<const Expr> places(index->shape.begin(), index->shape.end() - 1);
  std::vector<std::string> names;
  for (std::int64_t axis = 0; axis < batch; ++axis) {  // each batch element has an index of its own
    Sizes shape(places.size(), sizes.constant(1));
    shape[static_cast<std::size_t>(axis)] = places[static_cast<std::size_t>(axis)];
    names.push_back(node.part(fmt::format("iota(i64, shape = {}, axis = {})", sizes.text(shape), axis)));
  }
  for (std::int64_t axis = 0; axis < *count; ++axis) {
    Window window = whole(sizes, index->shape);
    window.start.back() = sizes.constant(axis);
    window.limit.back() = sizes.constant(axis + 1);
    const std::string part = node.part(slice_text(sizes, stated, window));
    const std::string one = node.part(fmt::format("reshape({}, shape = {})", part, sizes.text(places)));
    names.push_back(
        counted_from_the_end(node, one, index->dtype, value->shape[static_cast<std::size_t>(batch + axis)]));
  }
  std::vector<std::int64_t> axes(names.size());
  std::iota(axes.begin(), axes.end(), 0);
  node.finish(fmt::format("take({}, {}, axes = [{}])", x, fmt::join(names, ", "), fmt::join(axes, ", ")), value->dtype,
              taken_extents(*value, 0, names.size(), places));
  return {};
}

Status import_gather(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const std::size_t axis, node.axis(node.integer("axis", 0), value->shape.size()));
  const auto literals = node.literal_list(1, "the indices");
  if (!value->sizes && (!literals || literals->empty())) return gather_by_data(node, *value, axis);
  PADLOCK_TRY(const std::vector<std::int64_t> indices, literals);
  PADLOCK_TRY(const SizeArray shape, node.size_array(1));
  if (value->sizes) return fold_gather(node, axis, indices, shape.dims);
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  const auto parts = runs(node, x, value->shape, axis, indices);
  if (parts.size() > limits::kLiterals) return refused(fmt::format("{} indices", indices.size()));
  const std::string all =
      parts.size() == 1 ? parts[0] : node.part(fmt::format("concat({}, axis = {})", fmt::join(parts, ", "), axis));
  Sizes extents(value->shape.begin(), value->shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (const std::int64_t n : shape.dims) extents.push_back(sizes.constant(n));
  extents.insert(extents.end(), value->shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, value->shape.end());
  node.finish(fmt::format("reshape({}, shape = {})", all, sizes.text(extents)), value->dtype, extents);
  return {};
}

}  // namespace padlock::onnx
