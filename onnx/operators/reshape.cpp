// Operators that give the same elements other extents.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "onnx/operators/movement.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {
namespace {

using Sizes = std::vector<Expr>;

/// A product, split into its literal and its other factors.
struct Factors {
  Int128 literal = 1;
  Sizes others;
};

Factors factors_of(const Sizes& extents) {
  Factors factors;
  for (const Expr extent : extents) {
    // The product's own factors; a sum of one term gives its coefficient, too.
    Sizes pending = {extent};
    while (!pending.empty()) {
      const Expr e = pending.back();
      pending.pop_back();
      if (e.is_constant()) {
        if (const auto exact = checked_mul(factors.literal, e.constant()))
          factors.literal = *exact;
        else
          factors.others.push_back(e);
      } else if (e.kind() == ir::ExprKind::product) {
        pending.insert(pending.end(), e.operands().begin(), e.operands().end());
      } else if (e.kind() == ir::ExprKind::sum && e.constant() == 0 && e.operands().size() == 1 &&
                 checked_mul(factors.literal, e.coefficients()[0])) {
        factors.literal = *checked_mul(factors.literal, e.coefficients()[0]);
        pending.push_back(e.operands()[0]);
      } else {
        factors.others.push_back(e);
      }
    }
  }
  return factors;
}

/// Returns the extent that a reshape leaves open: the product of `all` divided by the product of `known`.
Result<Expr> left_open(SizeMath& sizes, const Sizes& all, const Sizes& known) {
  Factors above = factors_of(all), below = factors_of(known);
  for (const Expr factor : std::exchange(below.others, {})) {
    const auto found = std::ranges::find(above.others, factor);
    if (found == above.others.end()) {
      below.others.push_back(factor);
    } else {
      above.others.erase(found);
    }
  }
  const Int128 common = std::gcd(above.literal, below.literal);
  if (common > 1) {
    above.literal /= common;
    below.literal /= common;
  }
  const auto product = [&](const Factors& factors) {
    return sizes.mul(sizes.context().constant(factors.literal), sizes.product(factors.others));
  };
  const Expr divisor = product(below);
  if (sizes.is_one(divisor)) return product(above);
  if (!sizes.require(divisor, ir::Comparison::ge, 1))
    return refused(fmt::format("the divisor {} of an extent that is left open is 0", sizes.text(divisor)));
  return sizes.floordiv(product(above), divisor);
}

}  // namespace

Status import_reshape(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(Sizes shape, node.size_list(1, "the shape"));
  const bool allows_zero = node.integer("allowzero", 0) != 0;
  Sizes known;
  std::optional<std::size_t> open;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].is_constant(-1)) {
      if (open) return refused("two extents are left open");
      open = axis;
      continue;
    }
    if (shape[axis].is_constant(0) && !allows_zero) {
      if (axis >= value->shape.size())
        return refused(fmt::format("extent {} of a tensor of rank {}", axis, value->shape.size()));
      shape[axis] = value->shape[axis];
    } else if (!sizes.is_nonnegative(shape[axis])) {
      return refused(
          fmt::format("the extent {} could be negative, which would leave it open", sizes.text(shape[axis])));
    }
    known.push_back(shape[axis]);
  }
  if (open) {
    PADLOCK_TRY(shape[*open], left_open(sizes, value->shape, known));
  }
  return finish_reshaped(node, *value, std::move(shape));
}

Status import_flatten(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  const auto rank = static_cast<std::int64_t>(value->shape.size());
  const std::int64_t given = node.integer("axis", 1), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) return refused(fmt::format("axis {} of a tensor of rank {}", given, rank));
  const std::span all(value->shape);
  const auto first = static_cast<std::size_t>(axis);
  return finish_reshaped(node, *value, {sizes.product(all.first(first)), sizes.product(all.subspan(first))});
}

namespace {

/// Returns the axes, from an attribute before operator set 13 or from input 1; nullopt if none are given.
Result<std::optional<std::vector<std::int64_t>>> axes_of(NodeImport& node) {
  std::optional<std::vector<std::int64_t>> axes;
  if (const Attribute* const attribute = node.attribute("axes")) {
    axes = attribute->integers;
  } else if (node.has_input(1)) {
    PADLOCK_TRY(axes, node.literal_list(1, "the axes"));
  }
  return axes;
}

}  // namespace

Status import_squeeze(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const auto given, axes_of(node));
  const std::size_t rank = value->shape.size();
  std::vector<std::size_t> axes;
  if (given) {
    PADLOCK_TRY(axes, node.axes(*given, rank));
  } else {
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (sizes.is_one(value->shape[axis])) axes.push_back(axis);
  }
  Sizes shape;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) shape.push_back(value->shape[axis]);
  return finish_reshaped(node, *value, std::move(shape));
}

Status import_unsqueeze(NodeImport& node) {
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const auto given, axes_of(node));
  if (!given) return refused("it has no axes");
  const std::size_t rank = value->shape.size() + given->size();
  PADLOCK_TRY(std::vector<std::size_t> axes, node.axes(*given, rank));
  std::ranges::sort(axes);
  Sizes shape = value->shape;
  for (const std::size_t axis : axes)
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), node.sizes().constant(1));
  return finish_reshaped(node, *value, std::move(shape));
}

namespace {

/// Adds reshape, transpose, reshape: x gets the extents `apart`, their order, and the extents of the result.
Status finish_permuted(NodeImport& node, Value& value, const Sizes& apart, std::string_view perm, const Sizes& shape) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(const std::string x, node.tensor(value));
  const std::string split = node.part(fmt::format("reshape({}, shape = {})", x, sizes.text(apart)));
  const std::string moved = node.part(fmt::format("transpose({}, perm = {})", split, perm));
  node.finish(fmt::format("reshape({}, shape = {})", moved, sizes.text(shape)), value.dtype, shape);
  return {};
}

/// Returns the side of a block of an image of rank 4.
Result<Expr> block_of(NodeImport& node, const Value& value) {
  const std::int64_t side = node.integer("blocksize", 0);
  if (side < 1 || side > (1 << 20)) return refused(fmt::format("a block of {}", side));
  if (value.shape.size() != 4) return refused(fmt::format("a tensor of rank {}", value.shape.size()));
  return node.sizes().constant(side);
}

}  // namespace

Status import_depth_to_space(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const Expr block, block_of(node, *value));
  const Expr n = value->shape[0], h = value->shape[2], w = value->shape[3];
  const Expr depth = sizes.floordiv(value->shape[1], sizes.mul(block, block));
  const Sizes shape = {n, depth, sizes.mul(h, block), sizes.mul(w, block)};
  if (node.word("mode", "DCR") == "CRD")
    return finish_permuted(node, *value, {n, depth, block, block, h, w}, "[0, 1, 4, 2, 5, 3]", shape);
  return finish_permuted(node, *value, {n, block, block, depth, h, w}, "[0, 3, 4, 1, 5, 2]", shape);
}

Status import_space_to_depth(NodeImport& node) {
  SizeMath& sizes = node.sizes();
  PADLOCK_TRY(Value* const value, node.input(0));
  PADLOCK_TRY(const Expr block, block_of(node, *value));
  const Expr n = value->shape[0], c = value->shape[1];
  const Expr h = sizes.floordiv(value->shape[2], block), w = sizes.floordiv(value->shape[3], block);
  const Sizes shape = {n, sizes.mul(c, sizes.mul(block, block)), h, w};
  const bool crd = node.word("mode", "DCR") == "CRD";
  return finish_permuted(node, *value, {n, c, h, block, w, block}, crd ? "[0, 1, 3, 5, 2, 4]" : "[0, 3, 5, 1, 2, 4]",
                         shape);
}

}  // namespace padlock::onnx
