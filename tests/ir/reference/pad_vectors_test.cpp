// Shapes and pads from upstream test suites (PyTorch OpInfo, ONNX node tests, XLA), through text, verifier, binding and
// interpreter, against a pad that walks along each axis.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/common/environment.h"
#include "tests/ir/reference/pad_walk.h"
#include "tests/ir/reference/reference_run.h"

using namespace padlock;
using namespace padlock::ir;
using namespace padlock::ir::testing;

namespace {

using Ints = std::vector<std::int64_t>;

struct Padding {
  Ints extents, low, high, interior;
};

/// PyTorch's order: the last axis first, (low, high) each.
Padding torch_padding(const Ints& extents, const Ints& pads) {
  Padding padding{.extents = extents, .low = Ints(extents.size()), .high = Ints(extents.size()), .interior = {}};
  for (std::size_t i = 0; i < pads.size(); i += 2) {
    const std::size_t axis = extents.size() - 1 - i / 2;
    padding.low[axis] = pads[i];
    padding.high[axis] = pads[i + 1];
  }
  padding.interior = Ints(extents.size());
  return padding;
}

constexpr std::int32_t kFill = -7;

/// Returns the padded iota, element by element: the fill if any axis has it.
std::vector<std::int32_t> expected(const Padding& padding, PadMode mode) {
  std::vector<std::int32_t> result = {0};
  for (std::size_t axis = 0; axis < padding.extents.size(); ++axis) {
    const auto sources =
        pad_by_walking(mode, padding.extents[axis], padding.low[axis], padding.high[axis], padding.interior[axis]);
    std::vector<std::int32_t> next;
    for (const std::int32_t outer : result)
      for (const auto& source : sources)
        next.push_back(outer == kFill || !source ? kFill
                                                 : static_cast<std::int32_t>(outer * padding.extents[axis] + *source));
    result = std::move(next);
  }
  return result;
}

bool is_legal(const Padding& padding, PadMode mode) {
  for (std::size_t axis = 0; axis < padding.extents.size(); ++axis) {
    const std::int64_t n = padding.extents[axis];
    const std::int64_t m =
        n + padding.low[axis] + padding.high[axis] + std::max<std::int64_t>(n - 1, 0) * padding.interior[axis];
    if (m < 0 || (mode != PadMode::constant && n == 0 && m > 0)) return false;
    if (mode != PadMode::constant && padding.interior[axis] != 0) return false;
  }
  return true;
}

/// Every pad amount and extent a symbol: one program serves all of a rank.
std::string program_text(std::size_t rank, PadMode mode, const Ints& interior) {
  std::string extents, dims, low, high;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const char* comma = axis == 0 ? "" : ", ";
    extents += fmt::format("{}N{}", comma, axis);
    dims += fmt::format(", l{0}: dim, h{0}: dim", axis);
    low += fmt::format("{}l{}", comma, axis);
    high += fmt::format("{}h{}", comma, axis);
  }
  const std::string rest = mode == PadMode::constant
                               ? fmt::format("value = {}, interior = [{}]", kFill, fmt::join(interior, ", "))
                               : fmt::format("mode = {}", name_of(mode));
  return fmt::format("program p(x: i32[{}]{}) {{ y = pad(x, low = [{}], high = [{}], {}) return y }}", extents, dims,
                     low, high, rest);
}

void check(const Padding& padding, PadMode mode) {
  REQUIRE(is_legal(padding, mode));
  Symbols symbols;
  for (std::size_t axis = 0; axis < padding.extents.size(); ++axis) {
    symbols[fmt::format("l{}", axis)] = padding.low[axis];
    symbols[fmt::format("h{}", axis)] = padding.high[axis];
  }
  CAPTURE(fmt::format("{} {} low {} high {} interior {}", name_of(mode), padding.extents, padding.low, padding.high,
                      padding.interior));
  const auto actual = run<std::int32_t>(program_text(padding.extents.size(), mode, padding.interior),
                                        {iota<std::int32_t>(padding.extents)}, symbols);
  CHECK((actual == expected(padding, mode)));
}

}  // namespace

TEST_CASE("pytorch: OpInfo's shapes and pads in every mode") {
  for (const auto& padding :
       {torch_padding({1, 3}, {1, 2}), torch_padding({1, 3}, {0, 1}), torch_padding({0, 3, 3}, {1, 2}),
        torch_padding({0, 3, 3}, {0, 1}), torch_padding({1, 3, 3}, {0, 2, 0, 1}),
        torch_padding({0, 3, 3, 3}, {0, 2, 0, 1}), torch_padding({3, 3, 5, 5}, {0, 2, 0, 1}),
        torch_padding({3, 3, 5, 5}, {1, 1, 1, 1, 1, 1}), torch_padding({1, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1}),
        torch_padding({1, 3, 4, 4}, {-1, 1, -2, 1}), torch_padding({1, 3}, {0, 2, 0, 1}),
        torch_padding({5, 3}, {-1, -2, 1, 1}), torch_padding({5, 3, 4, 4}, {-4, 5, 0, 0}),
        torch_padding({6, 2, 4, 4}, {0, 0, 2, -4}), torch_padding({5, 6, 4, 4}, {5, -4, -4, 3}),
        torch_padding({4, 2, 5, 5}, {-2, -1, 4, 6}), torch_padding({2, 6, 5, 5}, {8, -1, -1, -3}),
        torch_padding({8, 1, 5, 5}, {-2, -1, -1, -3})})
    for (const PadMode mode : kPadModes) check(padding, mode);
}

TEST_CASE("onnx: node tests, and axes [1, 3]") {
  check({{1, 3, 4, 5}, {0, 0, 1, 3}, {0, 0, 2, 4}, {0, 0, 0, 0}}, PadMode::constant);
  for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::wrap})
    check({{1, 3, 4, 5}, {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0}}, mode);
  check({{1, 3, 4, 5}, {0, 0, 0, 3}, {0, 0, 0, 4}, {0, 0, 0, 0}}, PadMode::constant);
  check({{3, 2}, {2, 1}, {1, 1}, {0, 0}}, PadMode::wrap);
}

TEST_CASE("xla, mhlo and stablehlo: interior padding") {
  check({{2, 2}, {1, 0}, {2, 1}, {1, 0}}, PadMode::constant);
  check({{1, 2, 3}, {0, 1, 2}, {1, 1, 0}, {0, 0, 1}}, PadMode::constant);
  check({{2, 3}, {0, 0}, {0, 0}, {1, 2}}, PadMode::constant);
  check({{4}, {-3}, {-2}, {2}}, PadMode::constant);
}

TEST_CASE("random ranks, extents and signed pads") {
  const std::uint64_t seed = padlock::testing::seed_or(169760);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  int legal = 0;
  while (legal < 300) {
    const auto rank = static_cast<std::size_t>(draw(0, 4));
    const PadMode mode = kPadModes[static_cast<std::size_t>(draw(0, 4))];
    Padding padding;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      padding.extents.push_back(draw(0, 4));
      padding.low.push_back(draw(-4, 6));
      padding.high.push_back(draw(-4, 6));
      padding.interior.push_back(mode == PadMode::constant ? draw(0, 2) : 0);
    }
    if (!is_legal(padding, mode)) continue;
    check(padding, mode);
    ++legal;
  }
}
