#include "ir/reference/pad_rule.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tests/ir/reference/pad_walk.h"

using namespace padlock::ir;
using padlock::ir::testing::pad_by_walking;

namespace {

std::vector<std::int64_t> sources(PadMode mode, std::int64_t extent, std::int64_t low, std::int64_t high,
                                  std::int64_t interior = 0) {
  std::vector<std::int64_t> result;  // -1: the fill
  const std::int64_t m = low + extent + std::max<std::int64_t>(extent - 1, 0) * interior + high;
  for (std::int64_t o = 0; o < m; ++o)
    result.push_back(pad_source({.mode = mode, .extent = extent, .low = low, .interior = interior}, o).value_or(-1));
  return result;
}

using Ints = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("published examples") {
  // IREE's end-to-end test of [1 2 3], low 1, high 5, interior 2.
  CHECK(sources(PadMode::constant, 3, 1, 5, 2) == Ints{-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, -1, -1, -1});
  // Cropping acts after the interior is there.
  CHECK(sources(PadMode::constant, 3, -1, -1, 1) == Ints{-1, 1, -1});
  // OpenVINO's page, [1 2 3 4] with (1, 3).
  CHECK(sources(PadMode::reflect, 4, 1, 3) == Ints{1, 0, 1, 2, 3, 2, 1, 0});
  CHECK(sources(PadMode::symmetric, 4, 1, 3) == Ints{0, 0, 1, 2, 3, 3, 2, 1});
  // numpy_22464: wrap is periodic, on both sides.
  CHECK(sources(PadMode::wrap, 4, 5, 2) == Ints{3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1});
  CHECK(sources(PadMode::wrap, 4, 2, 5) == Ints{2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  // onnxruntime_16401: reflecting two of two.
  CHECK(sources(PadMode::reflect, 2, 2, 0) == Ints{0, 1, 0, 1});
  // onnxruntime_11828: a crop below and a reflection above, on the original extent.
  CHECK(sources(PadMode::reflect, 4, -3, 3) == Ints{3, 2, 1, 0});
  // Wrap of [0 1] with (-1, 2) maps on the original extent.
  CHECK(sources(PadMode::wrap, 2, -1, 2) == Ints{1, 0, 1});
  // n = 1 with (3, -2): XLA's index formula, all fill.
  CHECK(sources(PadMode::constant, 1, 3, -2) == Ints{-1, -1});
  CHECK(sources(PadMode::reflect, 1, 2, 2) == Ints{0, 0, 0, 0, 0});
  // tensorflow_48914: symmetric pad 3 on a size-2 axis.
  CHECK(sources(PadMode::symmetric, 2, 3, 0) == Ints{1, 1, 0, 0, 1});
  CHECK(sources(PadMode::constant, 0, 1, 1) == Ints{-1, -1});
}

TEST_CASE("every mode, sign and number of laps is what a walk along the axis finds") {
  int elements = 0;
  for (const PadMode mode : kPadModes) {
    for (std::int64_t extent = mode == PadMode::constant ? 0 : 1; extent <= 5; ++extent) {
      for (std::int64_t interior = 0; interior <= (mode == PadMode::constant ? 3 : 0); ++interior) {
        for (std::int64_t low = -14; low <= 14; ++low) {
          for (std::int64_t high = -14; high <= 14; ++high) {
            const std::int64_t m = low + extent + std::max<std::int64_t>(extent - 1, 0) * interior + high;
            if (m < 0) continue;
            const auto walked = pad_by_walking(mode, extent, low, high, interior);
            REQUIRE(static_cast<std::int64_t>(walked.size()) == m);
            int failures = 0;
            for (std::int64_t o = 0; o < m; ++o) {
              const auto found = pad_source({.mode = mode, .extent = extent, .low = low, .interior = interior}, o);
              failures += found == walked[static_cast<std::size_t>(o)] ? 0 : 1;
              ++elements;
            }
            CAPTURE(name_of(mode));
            CAPTURE(extent);
            CAPTURE(low);
            CAPTURE(high);
            CAPTURE(interior);
            REQUIRE(failures == 0);
          }
        }
      }
    }
  }
  CHECK(elements > 100000);
}

TEST_CASE("the formulas are total: no amount overflows") {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto source = [](PadMode mode, std::int64_t extent, std::int64_t low, std::int64_t o,
                         std::int64_t interior = 0) {
    return pad_source({.mode = mode, .extent = extent, .low = low, .interior = interior}, o).value_or(-1);
  };
  CHECK(source(PadMode::constant, kMax, kMin, 0) == -1);  // i = 2^63, one beyond the last
  CHECK(source(PadMode::constant, kMax, kMin + 2, 0) == kMax - 1);
  CHECK(source(PadMode::constant, 3, kMax, 0) == -1);
  CHECK(source(PadMode::constant, 3, 0, 1, kMax) == -1);
  CHECK(source(PadMode::constant, 3, kMin, 0, kMax) == 1);  // i = 2^63, period 2^63
  CHECK(source(PadMode::edge, kMax, kMin, kMax) == kMax - 1);
  CHECK(source(PadMode::edge, 3, kMax, 0) == 0);
  CHECK(source(PadMode::wrap, kMax, kMin, 0) == 1);
  CHECK(source(PadMode::wrap, 10, kMax, 0) == 3);                // -(2^63 - 1) mod 10
  CHECK(source(PadMode::symmetric, kMax, kMin, 0) == kMax - 2);  // t = n + 1, 2n - 1 - t
  CHECK(source(PadMode::reflect, kMax, kMin, 0) == kMax - 3);    // t = n + 1, 2n - 2 - t
  for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::symmetric, PadMode::wrap})
    CHECK(source(mode, 0, 1, 0) == -1);
}
