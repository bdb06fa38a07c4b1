#include "abi/launch_parts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/common/environment.h"
#include "tests/common/rng.h"

namespace padlock::abi {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Ranges as {first_row, rows, origins...}.
std::optional<std::vector<Numbers>> split(const PartSizes& sizes) {
  const auto ranges = split_rows(sizes);
  if (!ranges) return std::nullopt;
  std::vector<Numbers> all;
  for (const RowRange& range : *ranges) {
    Numbers& numbers = all.emplace_back(Numbers{range.first_row, range.rows});
    numbers.insert(numbers.end(), range.origins.begin(), range.origins.end());
  }
  return all;
}

/// A result of 8 rows of 10 columns, with an input of the same size. A launch takes 40 elements.
PartSizes eight_rows() {
  return {.extents = {8}, .columns = 10, .spans = {80}, .reaches = {{0, {10}, 0, 9}}, .most_elements = 40};
}

/// Elements of an input that a row reads at most, each within the storage.
std::vector<std::int64_t> elements_of(const PartSizes& sizes, std::int64_t row, std::uint32_t input) {
  std::vector<std::int64_t> elements;
  for (const ReachSizes& reach : sizes.reaches) {
    if (reach.input != input) continue;
    Int128 offset = 0;
    std::int64_t rest = row;
    for (std::size_t axis = sizes.extents.size(); axis-- > 0; rest /= sizes.extents[axis])
      offset += reach.steps[axis] * (rest % sizes.extents[axis]);
    for (Int128 element = reach.least + offset; element <= reach.most + offset; ++element)
      if (element >= 0 && element < sizes.spans[input]) elements.push_back(static_cast<std::int64_t>(element));
  }
  return elements;
}

/// Returns whether one launch can take a row by itself.
bool fits(const PartSizes& sizes, std::int64_t row) {
  for (std::uint32_t input = 0; input < sizes.spans.size(); ++input) {
    const auto elements = elements_of(sizes, row, input);
    if (elements.empty()) continue;
    const auto [first, last] = std::ranges::minmax(elements);
    if (last - first >= sizes.most_elements) return false;
  }
  return sizes.columns <= sizes.most_elements;
}

/// Checks that the ranges have all rows once, in order, and that a launch can take each, from its origins on.
void check_ranges(const PartSizes& sizes, const std::vector<RowRange>& ranges, std::int64_t rows) {
  std::int64_t next = 0;
  for (const RowRange& range : ranges) {
    CHECK(range.first_row == next);
    CHECK(range.rows > 0);
    next += range.rows;
    CHECK(range.rows * sizes.columns <= sizes.most_elements);
    REQUIRE(range.origins.size() == sizes.spans.size());
    bool all_lie_there = true;
    for (std::uint32_t input = 0; input < sizes.spans.size(); ++input)
      for (std::int64_t row = range.first_row; row < next; ++row)
        for (const std::int64_t element : elements_of(sizes, row, input))
          all_lie_there &= element >= range.origins[input] && element - range.origins[input] < sizes.most_elements;
    CHECK(all_lie_there);
  }
  CHECK(next == rows);
}

PartSizes random_sizes(testing::Rng& random) {
  PartSizes sizes{.columns = random.between(1, 8)};
  for (std::int64_t axes = random.between(0, 3); axes > 0; --axes) sizes.extents.push_back(random.between(1, 6));
  for (std::int64_t inputs = random.between(0, 3); inputs > 0; --inputs) sizes.spans.push_back(random.between(0, 300));
  if (!sizes.spans.empty()) {
    for (std::int64_t reaches = random.between(0, 4); reaches > 0; --reaches) {
      const Int128 least = random.between(-60, 60);
      ReachSizes& reach = sizes.reaches.emplace_back(
          ReachSizes{.least = least, .most = least + random.between(0, random.chance(50) ? 3 : 20)});
      reach.input = static_cast<std::uint32_t>(random.between(0, std::ssize(sizes.spans) - 1));
      for (std::size_t axis = 0; axis < sizes.extents.size(); ++axis) reach.steps.push_back(random.between(-20, 20));
    }
  }
  sizes.most_elements = random.between(1, 80);
  return sizes;
}

TEST_CASE("what a launch may take is not cut") {
  PartSizes sizes = eight_rows();
  sizes.most_elements = 80;
  CHECK(split(sizes) == std::vector<Numbers>{{0, 8, 0}});
  sizes.extents = {};  // a vector: one row
  sizes.reaches = {{0, {}, 12, 20}};
  CHECK(split(sizes) == std::vector<Numbers>{{0, 1, 12}});
  sizes.spans = {};
  sizes.reaches = {};
  CHECK(split(sizes) == std::vector<Numbers>{{0, 1}});
  sizes.extents = {3, 0};
  CHECK(split(sizes) == std::vector<Numbers>{});
}

TEST_CASE("rows are cut where the output, or what is read of an input, is too large") {
  CHECK(split(eight_rows()) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 40}});
  PartSizes strided = eight_rows();
  strided.columns = 1;
  CHECK(split(strided) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 40}});
}

TEST_CASE("a window ends where the storage does") {
  PartSizes padded = eight_rows();  // by two rows before it: the first reads nothing
  padded.reaches = {{0, {10}, -20, -11}};
  padded.spans = {60};
  CHECK(split(padded) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 20}});
  padded.spans = {0};
  CHECK(split(padded) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 0}});
}

TEST_CASE("a window of a row that is read backwards begins with the last") {
  PartSizes reversed = eight_rows();
  reversed.reaches = {{0, {-10}, 70, 79}};
  CHECK(split(reversed) == std::vector<Numbers>{{0, 4, 40}, {4, 4, 0}});
}

TEST_CASE("what all rows read is in every window, and counts") {
  PartSizes repeated = eight_rows();
  repeated.spans = {80, 10};
  repeated.reaches.push_back({1, {0}, 0, 9});
  CHECK(split(repeated) == std::vector<Numbers>{{0, 4, 0, 0}, {4, 4, 40, 0}});
  repeated.spans = {80, 41};
  repeated.reaches.back().most = 40;
  CHECK(split(repeated) == std::nullopt);
}

TEST_CASE("reaches of one input that lie far apart are one window, unless the storage does not have them") {
  PartSizes apart = eight_rows();
  apart.spans = {1000};
  apart.reaches = {{0, {0}, 0, 4}, {0, {0}, 36, 39}};
  CHECK(split(apart) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 0}});
  apart.reaches[1] = {0, {0}, 36, 40};
  CHECK(split(apart) == std::nullopt);
  apart.spans = {36};
  CHECK(split(apart) == std::vector<Numbers>{{0, 4, 0}, {4, 4, 0}});
}

TEST_CASE("a row that is too large for a launch cannot be cut") {
  PartSizes wide = eight_rows();
  wide.most_elements = 9;
  CHECK(split(wide) == std::nullopt);
  wide.extents = {};
  wide.reaches = {{0, {}, 0, 9}};
  CHECK(split(wide) == std::nullopt);
}

TEST_CASE("the outermost axis with several indices is cut, at whole indices of it") {
  PartSizes sizes = eight_rows();
  sizes.extents = {1, 5, 3};
  sizes.spans = {};
  sizes.reaches = {};
  // Two indices of 3 rows of 10 columns exceed 40.
  CHECK(split(sizes) == std::vector<Numbers>{{0, 3}, {3, 3}, {6, 3}, {9, 3}, {12, 3}});
  sizes.most_elements = 20;
  sizes.extents = {1, 1, 3};
  CHECK(split(sizes) == std::vector<Numbers>{{0, 1}, {1, 2}});
}

TEST_CASE("an axis outside that is transposed to the innermost leaves slabs of the other") {
  // Rows are (i, j) of 4 x 6; the input has j outside i: each index of i reaches over nearly all of it.
  const PartSizes sizes{
      .extents = {4, 6}, .columns = 1, .spans = {24}, .reaches = {{0, {1, 4}, 0, 0}}, .most_elements = 12};
  const auto ranges = split_rows(sizes);
  REQUIRE(ranges);
  CHECK(ranges->size() == 8);
  check_ranges(sizes, *ranges, 24);
}

TEST_CASE("more launches than there may be are refused") {
  constexpr auto kMost = static_cast<std::int64_t>(kMostParts);
  PartSizes sizes{.extents = {kMost}, .columns = 7, .most_elements = 7};
  REQUIRE(split_rows(sizes));
  CHECK(split_rows(sizes)->size() == kMostParts);
  sizes.extents = {kMost + 1};
  CHECK_FALSE(split_rows(sizes));
}

TEST_CASE("sizes beyond all memory are cut as others, those beyond their bits are refused") {
  constexpr std::int64_t kFar = std::int64_t{1} << 42, kMost = (std::int64_t{1} << 31) - 1;
  PartSizes sizes{.extents = {kFar >> 16, 1 << 10}, .columns = 4, .spans = {kFar}, .most_elements = kMost};
  sizes.reaches = {{0, {1 << 16, 4}, 0, 3}};
  const auto ranges = split_rows(sizes);
  REQUIRE(ranges);
  CHECK(ranges->size() == 2048);  // of 2^15 indices each, which read nearly 2^31 elements
  CHECK(ranges->back().rows == 1 << 25);
  CHECK(ranges->back().origins[0] == kFar - (std::int64_t{1} << 31));

  constexpr Int128 kHuge = std::numeric_limits<Int128>::max();
  sizes.reaches = {{0, {kHuge, 0}, 0, 0}};
  CHECK_FALSE(split_rows(sizes));
  sizes.reaches = {{0, {1, 0}, 0, kHuge}};
  CHECK_FALSE(split_rows(sizes));
  sizes.reaches = {};
  sizes.extents = {kFar, kFar};
  CHECK_FALSE(split_rows(sizes));
}

TEST_CASE("whatever the sizes, all rows are launched once and read nothing outside a window, or one row is too large") {
  const std::uint64_t seed = testing::seed_or(20261204);
  MESSAGE("seed " << seed);
  testing::Rng random(seed);
  int refused = 0, whole = 0, cut = 0;
  for (int round = 0; round < 4000; ++round) {
    CAPTURE(round);
    const PartSizes sizes = random_sizes(random);
    std::int64_t rows = 1;
    for (const std::int64_t extent : sizes.extents) rows *= extent;
    const auto ranges = split_rows(sizes);
    bool all_fit = true;
    for (std::int64_t row = 0; row < rows; ++row) all_fit &= fits(sizes, row);
    REQUIRE(ranges.has_value() == all_fit);
    refused += all_fit ? 0 : 1;
    if (!all_fit) continue;
    check_ranges(sizes, *ranges, rows);
    ++(ranges->size() == 1 ? whole : cut);
  }
  CHECK(refused > 400);
  CHECK(whole > 400);
  CHECK(cut > 400);
}

TEST_CASE("blocks hold all vectors, wherever in one the first element lies") {
  CHECK(block_count(1024, 1, 1024) == 1);
  CHECK(block_count(1025, 1, 1024) == 2);
  CHECK(block_count(1021, 4, 1024) == 1);
  CHECK(block_count(1022, 4, 1024) == 2);
  CHECK(block_count(1, 4, 1024) == 1);
}

}  // namespace
}  // namespace padlock::abi
