#include "ir/layout.h"

namespace padlock::ir {

Expr Layout::step_of(ExprContext& context, int axis, Int128 slope) const {
  return context.mul(context.constant(slope), strides_[static_cast<std::size_t>(axis)]);
}

bool Layout::next_axis_continues(ExprContext& context, int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  return i + 1 < strides_.size() && strides_[i] == context.mul(strides_[i + 1], extents_[i + 1]);
}

Layout Layout::with_next_axis_merged(ExprContext& context, int axis) const {
  const auto i = static_cast<std::ptrdiff_t>(axis);
  std::vector<Expr> extents = extents_;
  std::vector<Expr> strides = strides_;
  extents[static_cast<std::size_t>(axis)] =
      context.mul(extents_[static_cast<std::size_t>(axis)], extents_[static_cast<std::size_t>(axis) + 1]);
  extents.erase(extents.begin() + i + 1);
  strides.erase(strides.begin() + i);
  return {context, std::move(extents), std::move(strides), offset_};
}

}  // namespace padlock::ir
