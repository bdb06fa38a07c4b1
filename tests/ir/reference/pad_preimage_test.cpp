#include "ir/reference/pad_preimage.h"

#include <algorithm>

#include <doctest/doctest.h>

using namespace padlock::ir;

namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t padded_extent(std::int64_t n, std::int64_t low, std::int64_t high, std::int64_t interior) {
  return low + n + std::max<std::int64_t>(n - 1, 0) * interior + high;
}

/// For each source of an axis the coordinates that have it, by asking every coordinate.
std::vector<Ints> by_search(const PadAxis& axis, std::int64_t padded) {
  std::vector<Ints> found(static_cast<std::size_t>(axis.extent));
  for (std::int64_t o = 0; o < padded; ++o)
    if (const auto source = pad_source(axis, o)) found[static_cast<std::size_t>(*source)].push_back(o);
  return found;
}

/// Returns how many axes of a mode were compared; -1 if two differed.
std::int64_t compare(PadMode mode, std::int64_t most_extent, std::int64_t most_pad, std::int64_t most_interior) {
  std::int64_t compared = 0;
  for (std::int64_t n = 1; n <= most_extent; ++n)
    for (std::int64_t interior = 0; interior <= most_interior; ++interior)
      for (std::int64_t low = -most_pad; low <= most_pad; ++low)
        for (std::int64_t high = -most_pad; high <= most_pad; ++high) {
          const std::int64_t padded = padded_extent(n, low, high, interior);
          if (padded < 0) continue;
          const PadAxis axis{.mode = mode, .extent = n, .low = low, .interior = interior};
          const std::vector<Ints> expected = by_search(axis, padded);
          for (std::int64_t j = 0; j < n; ++j)
            if (pad_preimages(axis, padded, j) != expected[static_cast<std::size_t>(j)]) return -1;
          compared += n;
        }
  return compared;
}

}  // namespace

TEST_CASE("published pictures, read backwards") {
  CHECK(pad_preimages({.mode = PadMode::reflect, .extent = 4, .low = 1}, 8, 1) == Ints{0, 2, 6});
  CHECK(pad_preimages({.mode = PadMode::reflect, .extent = 4, .low = 1}, 8, 3) == Ints{4});
  CHECK(pad_preimages({.mode = PadMode::symmetric, .extent = 4, .low = 1}, 8, 3) == Ints{4, 5});
  CHECK(pad_preimages({.mode = PadMode::wrap, .extent = 4, .low = 5}, 11, 3) == Ints{0, 4, 8});
  CHECK(pad_preimages({.mode = PadMode::edge, .extent = 3, .low = 2}, 7, 2) == Ints{4, 5, 6});
  CHECK(pad_preimages({.mode = PadMode::constant, .extent = 3, .low = -1, .interior = 1}, 3, 1) == Ints{1});
  CHECK(pad_preimages({.mode = PadMode::constant, .extent = 3, .low = -1, .interior = 1}, 3, 0).empty());
  CHECK(pad_preimages({.mode = PadMode::reflect, .extent = 1, .low = 2}, 5, 0) == Ints{0, 1, 2, 3, 4});
}

// Every source of every axis with extents up to 9, pads between -20 and 20 and interiors up to 3: twice round and more.
TEST_CASE("preimages are what a search over all coordinates finds, in ascending order") {
  std::int64_t all = 0;
  for (const PadMode mode : kPadModes) {
    const std::int64_t compared = compare(mode, 9, 20, mode == PadMode::constant ? 3 : 0);
    CHECK_MESSAGE(compared > 0, name_of(mode));
    all += compared;
  }
  MESSAGE(all << " sources");
  CHECK(all >= 154'440);
}
