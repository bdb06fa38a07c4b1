#include "tools/arrays/element_walk.h"

#include <doctest/doctest.h>

namespace padlock::tools {
namespace {

using List = std::vector<std::int64_t>;

List offsets(const List& extents, const List& strides, ElementOrder order) {
  List list;
  for (ElementWalk walk(extents, strides, order); !walk.done(); walk.next()) {
    // The offset of the coordinates under the strides, computed independently.
    std::int64_t expected = 0;
    const List coordinates = walk.coordinates();
    for (std::size_t axis = 0; axis < extents.size(); ++axis) expected += coordinates[axis] * strides[axis];
    CHECK(walk.offset() == expected);
    list.push_back(walk.offset());
  }
  return list;
}

TEST_CASE("row-major order moves the last axis first, column-major the first") {
  CHECK(offsets({2, 3}, {10, 1}, ElementOrder::row_major) == List{0, 1, 2, 10, 11, 12});
  CHECK(offsets({2, 3}, {10, 1}, ElementOrder::column_major) == List{0, 10, 1, 11, 2, 12});
}

TEST_CASE("every coordinate comes once, at the offset that its strides give") {
  CHECK(offsets({2, 1, 3, 2}, {100, 7, 0, 5}, ElementOrder::row_major).size() == 12);
  CHECK(offsets({2, 1, 3, 2}, {100, 7, 0, 5}, ElementOrder::column_major).size() == 12);
}

TEST_CASE("rank 0 has one element, an empty array none") {
  CHECK(offsets({}, {}, ElementOrder::row_major) == List{0});
  CHECK(offsets({3, 0}, {1, 1}, ElementOrder::row_major).empty());
  CHECK(offsets({0, 3}, {1, 1}, ElementOrder::column_major).empty());
}

}  // namespace
}  // namespace padlock::tools
