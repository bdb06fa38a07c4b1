// Operators that become pads.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/text/literal.h"
#include "onnx/operators/movement.h"

namespace padlock::onnx {
namespace {

using Sizes = std::vector<Expr>;

/// Amounts of a pad, one for each axis.
struct Amounts {
  Sizes low, high;
};

Result<Sizes> given_pads(NodeImport& node) {
  if (node.opset() >= 11) return node.size_list(1, "the pads");
  Sizes pads;
  const Attribute* const attribute = node.attribute("pads");
  if (attribute == nullptr) return refused("it has no pads");
  for (const std::int64_t number : attribute->integers) pads.push_back(node.sizes().constant(number));
  return pads;
}

/// Returns the axes of an attribute or input; all axes if neither is given.
Result<std::vector<std::size_t>> given_axes(NodeImport& node, std::size_t input, std::size_t rank) {
  std::vector<std::int64_t> axes;
  if (const Attribute* const attribute = node.attribute("axes")) {
    axes = attribute->integers;
  } else if (node.has_input(input)) {
    PADLOCK_TRY(axes, node.literal_list(input, "the axes"));
  } else {
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  return node.axes(axes, rank);
}

Result<Amounts> given_amounts(NodeImport& node, std::size_t rank) {
  PADLOCK_TRY(const Sizes pads, given_pads(node));
  PADLOCK_TRY(const std::vector<std::size_t> axes, given_axes(node, 3, rank));
  if (pads.size() != 2 * axes.size())
    return refused(fmt::format("it has {} pads for {} axes", pads.size(), axes.size()));
  const Sizes zeros(rank, node.sizes().constant(0));
  Amounts amounts{zeros, zeros};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    amounts.low[axes[i]] = pads[i];
    amounts.high[axes[i]] = pads[axes.size() + i];
  }
  return amounts;
}

/// Returns the fill; "" for 0, the language's default.
Result<std::string> fill(NodeImport& node, ir::DType dtype) {
  if (node.opset() < 11 && node.attribute("value") != nullptr) {
    const auto value = static_cast<double>(node.number("value", 0));
    return ", value = " + to_string(ir::Scalar{ir::DType::f64, std::bit_cast<std::uint64_t>(value)});
  }
  if (node.opset() < 11 || !node.has_input(2)) return std::string();
  PADLOCK_TRY(Value* const value, node.input(2));
  if (value->dtype != dtype)
    return refused(fmt::format("its fill is of the type {}, not {}", name_of(value->dtype), name_of(dtype)));
  auto text = node.scalar(*value);
  if (!text) {
    PADLOCK_TRY(text, node.tensor(*value));
  }
  return ", value = " + *text;
}

/// Returns x without the elements that negative amounts cut off, and sets these amounts to 0.
std::string cropped(NodeImport& node, const std::string& x, Sizes& extents, Amounts& amounts) {
  SizeMath& sizes = node.sizes();
  const Expr zero = sizes.constant(0);
  Sizes start, limit;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    start.push_back(sizes.max(sizes.neg(amounts.low[axis]), zero));
    limit.push_back(sizes.sub(extents[axis], sizes.max(sizes.neg(amounts.high[axis]), zero)));
    amounts.low[axis] = sizes.max(amounts.low[axis], zero);
    amounts.high[axis] = sizes.max(amounts.high[axis], zero);
  }
  if (start == Sizes(extents.size(), zero) && limit == extents) return x;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) extents[axis] = sizes.sub(limit[axis], start[axis]);
  return node.part(fmt::format("slice({}, start = {}, limit = {})", x, sizes.text(start), sizes.text(limit)));
}

void finish_pad(NodeImport& node, const Value& value, const std::string& x, Sizes extents, const Amounts& amounts,
                std::string_view rest) {
  SizeMath& sizes = node.sizes();
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    extents[axis] = sizes.add(extents[axis], sizes.add(amounts.low[axis], amounts.high[axis]));
  node.finish(fmt::format("pad({}, low = {}, high = {}{})", x, sizes.text(amounts.low), sizes.text(amounts.high), rest),
              value.dtype, extents);
}

}  // namespace

Status import_pad(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(Amounts amounts, given_amounts(node, value->shape.size()));
  PADLOCK_TRY(std::string x, node.tensor(*value));
  const std::string_view mode = node.word("mode", "constant");
  Sizes extents = value->shape;
  std::string rest;
  if (mode == "constant") {
    PADLOCK_TRY(rest, fill(node, value->dtype));
  } else if (mode == "edge" || mode == "reflect" || mode == "wrap") {
    // The standard cuts first, then mirrors the rest.
    x = cropped(node, x, extents, amounts);
    rest = fmt::format(", mode = {}", mode);
  } else {
    return refused(fmt::format("the mode '{}'", mode.substr(0, 40)));
  }
  finish_pad(node, *value, x, extents, amounts, rest);
  return {};
}

Status import_center_crop_pad(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const Sizes wanted, node.size_list(1, "the shape"));
  const std::size_t rank = value->shape.size();
  PADLOCK_TRY(const std::vector<std::size_t> axes, given_axes(node, rank, rank));
  if (wanted.size() != axes.size())
    return refused(fmt::format("it has {} extents for {} axes", wanted.size(), axes.size()));
  // Half of the amount, rounded down, comes before. A constant pad both adds and cuts.
  const Expr zero = sizes.constant(0), two = sizes.constant(2);
  Amounts amounts{Sizes(rank, zero), Sizes(rank, zero)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr n = value->shape[axes[i]];
    const Expr more = sizes.max(sizes.sub(wanted[i], n), zero), less = sizes.max(sizes.sub(n, wanted[i]), zero);
    amounts.low[axes[i]] = sizes.sub(sizes.floordiv(more, two), sizes.floordiv(less, two));
    amounts.high[axes[i]] = sizes.sub(sizes.sub(wanted[i], n), amounts.low[axes[i]]);
  }
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  finish_pad(node, *value, x, value->shape, amounts, "");
  return {};
}

/// Imports Tile: a tensor repeated is a tensor padded by itself (mode wrap).
Status import_tile(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const Sizes repeats, node.size_list(1, "the repeats"));
  const Sizes& extents = value->shape;
  if (repeats.size() != extents.size())
    return refused(fmt::format("it has {} repeats for {} axes", repeats.size(), extents.size()));
  Amounts amounts{Sizes(extents.size(), sizes.constant(0)), {}};
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    amounts.high.push_back(sizes.mul(extents[axis], sizes.sub(repeats[axis], sizes.constant(1))));
  PADLOCK_TRY(const std::string x, node.tensor(*value));
  finish_pad(node, *value, x, extents, amounts, ", mode = wrap");
  return {};
}

}  // namespace padlock::onnx
