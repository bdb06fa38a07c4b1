#include "ir/layout.h"

#include <algorithm>

namespace padlock::ir {

namespace {

std::vector<Expr> dense_strides(ExprContext& context, std::span<const Expr> extents) {
  std::vector<Expr> strides(extents.size());
  Expr stride = context.constant(1);
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride = context.mul(stride, extents[i]);
  }
  return strides;
}

Expr product_of(ExprContext& context, std::span<const Expr> extents) {
  Expr product = context.constant(1);
  for (std::size_t i = extents.size(); i-- > 0;) product = context.mul(product, extents[i]);
  return product;
}

// prod min(extent, 1) * (offset + 1 + sum (extent - 1) * stride). Dense strides make the sum telescope to the number
// of elements (each term is stride[i-1] - stride[i], with stride[-1] = the product of all extents), which is 0 where
// an extent is; that is taken as it is, because the ranges do not always allow distributing so far.
Expr storage_of(ExprContext& context, const Layout& layout) {
  const auto extents = layout.extents(), strides = layout.strides();
  const Expr one = context.constant(1);
  if (layout.offset().is_constant(0) && std::ranges::equal(strides, dense_strides(context, extents)))
    return layout.element_count();
  Expr not_empty = one;
  for (const Expr extent : extents) not_empty = context.mul(not_empty, context.min(extent, one));
  return context.mul(not_empty, layout.span(context));
}

}  // namespace

Layout::Layout(ExprContext& context, std::vector<Expr> extents, std::vector<Expr> strides, Expr offset)
    : extents_(std::move(extents)), strides_(std::move(strides)), offset_(offset) {
  element_count_ = product_of(context, extents_);
  storage_extent_ = storage_of(context, *this);
}

Layout Layout::dense(ExprContext& context, std::vector<Expr> extents) {
  std::vector<Expr> strides = dense_strides(context, extents);
  return Layout(context, std::move(extents), std::move(strides), context.constant(0));
}

Expr Layout::span(ExprContext& context) const {
  const Expr one = context.constant(1);
  if (offset_.is_constant(0) && std::ranges::equal(strides_, dense_strides(context, extents_))) return element_count_;
  Expr span = context.add(offset_, one);
  for (std::size_t i = 0; i < extents_.size(); ++i)
    span = context.add(span, context.mul(context.sub(extents_[i], one), strides_[i]));
  return span;
}

Expr Layout::offset_of(ExprContext& context, std::span<const Expr> coordinates) const {
  Expr offset = offset_;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    offset = context.add(offset, context.mul(coordinates[i], strides_[i]));
  return offset;
}

Expr Layout::step_of(ExprContext& context, int axis, Int128 slope) const {
  return context.mul(context.constant(slope), strides_[static_cast<std::size_t>(axis)]);
}

bool Layout::next_axis_continues(ExprContext& context, int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  return strides_[i] == context.mul(strides_[i + 1], extents_[i + 1]);
}

bool Layout::merges(ExprContext& context, const Layout& whole) const {
  if (offset_ != whole.offset_) return false;
  int at = whole.rank();
  for (int axis = rank(); axis-- > 0;) {
    const auto i = static_cast<std::size_t>(axis);
    if (at == 0 || strides_[i] != whole.strides_[static_cast<std::size_t>(at) - 1]) return false;
    Expr extent = whole.extents_[static_cast<std::size_t>(--at)];
    while (extent != extents_[i]) {
      if (at == 0 || !whole.next_axis_continues(context, at - 1)) return false;
      extent = context.mul(whole.extents_[static_cast<std::size_t>(--at)], extent);
    }
    // An axis left over must belong to the axes before, unless it has extent 1 and its stride is never used.
    while (axis == 0 && at > 0 && whole.extents_[static_cast<std::size_t>(at) - 1].is_constant(1)) --at;
  }
  return at == 0;
}

Layout Layout::with_next_axis_merged(ExprContext& context, int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  std::vector<Expr> extents = extents_, strides = strides_;
  extents[i] = context.mul(extents[i], extents[i + 1]);
  extents.erase(extents.begin() + axis + 1);
  strides.erase(strides.begin() + axis);
  return Layout(context, std::move(extents), std::move(strides), offset_);
}

}  // namespace padlock::ir
