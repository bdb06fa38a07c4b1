#include "ir/layout.h"

#include <algorithm>

namespace padlock::ir {

namespace {

/// Appends the strides of a row-major dense tensor of these extents, and returns the number of its elements.
Expr append_dense_strides(ExprContext& context, std::span<const Expr> extents, std::vector<Expr>& strides) {
  strides.resize(extents.size());
  Expr count = context.constant(1);
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = count;
    count = context.mul(count, extents[i]);
  }
  return count;
}

}  // namespace

// prod min(extent, 1) * (offset + 1 + sum (extent - 1) * stride). Dense strides make the sum telescope to the number of
// elements, because each term is stride[i-1] - stride[i], with stride[-1] = the product of all extents. That product is
// 0 if an extent is 0. It is used directly, since the ranges do not always allow distributing the sum.
Layout::Layout(ExprContext& context, std::vector<Expr> extents, std::vector<Expr> strides, Expr offset)
    : extents_(std::move(extents)), strides_(std::move(strides)), offset_(offset) {
  std::vector<Expr> dense;
  element_count_ = append_dense_strides(context, extents_, dense);
  is_dense_ = offset_.is_constant(0) && strides_ == dense;
  storage_extent_ = element_count_;
  if (is_dense_) return;
  const Expr one = context.constant(1);
  Expr not_empty = one;
  for (const Expr extent : extents_) not_empty = context.mul(not_empty, context.min(extent, one));
  storage_extent_ = context.mul(not_empty, span(context));
}

Layout Layout::dense(ExprContext& context, std::vector<Expr> extents) {
  Layout made;
  made.extents_ = std::move(extents);
  made.offset_ = context.constant(0);
  made.element_count_ = append_dense_strides(context, made.extents_, made.strides_);
  made.storage_extent_ = made.element_count_;
  made.is_dense_ = true;
  return made;
}

Expr Layout::span(ExprContext& context) const {
  if (is_dense_) return element_count_;
  const Expr one = context.constant(1);
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
    // A remaining axis must belong to the axes before it, unless its extent is 1, so that its stride is never used.
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
