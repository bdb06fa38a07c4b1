#include "tools/arrays/element_walk.h"

#include <algorithm>

namespace padlock::tools {

ElementWalk::ElementWalk(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                         ElementOrder order)
    : order_(order) {
  for (std::size_t axis = 0; axis < extents.size(); ++axis) axes_.push_back({extents[axis], strides[axis]});
  if (order == ElementOrder::column_major) std::reverse(axes_.begin(), axes_.end());
  done_ = std::find(extents.begin(), extents.end(), 0) != extents.end();
}

std::vector<std::int64_t> ElementWalk::coordinates() const {
  std::vector<std::int64_t> list;
  for (const Axis& axis : axes_) list.push_back(axis.coordinate);
  if (order_ == ElementOrder::column_major) std::reverse(list.begin(), list.end());
  return list;
}

void ElementWalk::next() {
  if (axes_.empty()) {
    done_ = true;
    return;
  }
  Axis& inner = axes_.back();
  if (inner.coordinate + 1 < inner.extent) {
    ++inner.coordinate;
    offset_ += inner.stride;
  } else {
    carry();
  }
}

void ElementWalk::carry() {
  std::size_t depth = axes_.size();
  while (depth > 0 && axes_[depth - 1].coordinate + 1 == axes_[depth - 1].extent) --depth;
  if (depth == 0) {
    done_ = true;
    return;
  }
  Axis& axis = axes_[depth - 1];
  ++axis.coordinate;
  offset_ = axis.start += axis.stride;
  for (; depth < axes_.size(); ++depth) {
    axes_[depth].coordinate = 0;
    axes_[depth].start = offset_;
  }
}

}  // namespace padlock::tools
