// GPU operations on words of several elements, for all bit patterns: no element may affect its neighbours.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <array>
#include <utility>

#include "tests/common/environment.h"
#include "tests/regressions/regression.h"

namespace padlock::conformance {
namespace {

using regressions::Regression;
using regressions::shape;

constexpr std::size_t kAll = 1 << 16;

constexpr const char* kOperations =
    "program p(a: {0}[n], b: {0}[n]) {{"
    "  y0 = maximum(a, b) y1 = minimum(a, b) y2 = neg(a) y3 = abs(a) y4 = sign(a) y5 = relu(a)"
    "  y6 = clamp(a, lo = {1}, hi = 3) y7 = lt(a, b) y8 = le(a, b) y9 = gt(a, b) y10 = ge(a, b) y11 = eq(a, b)"
    "  y12 = ne(a, b) y13 = select(y7, a, b)"
    "  return y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13 }}";

template <class T, class Make>
std::vector<std::byte> elements(Make&& make) {
  std::vector<T> all(kAll);
  for (std::size_t i = 0; i < kAll; ++i) all[i] = static_cast<T>(make(i));
  return testing::bytes_of(all);
}

regressions::Sizes all_of(std::size_t tensors) {
  return {std::vector<ir::ArgumentShape>(tensors, shape({static_cast<std::int64_t>(kAll)}))};
}

}  // namespace

TEST_CASE("packed words: all pairs of bytes") {
  for (const char* type : {"i8", "u8"}) {
    Regression r(fmt::format(kOperations, type, *type == 'u' ? "2" : "-2"));
    r.same(all_of(2), {elements<std::uint8_t>([](std::size_t i) { return i >> 8; }),
                       elements<std::uint8_t>([](std::size_t i) { return i & 0xff; })});
  }
}

TEST_CASE("packed words: all pairs of bytes that stand for bool, and what they select") {
  Regression r(
      "program p(a: bool[n], b: bool[n], x: i8[n], z: i8[n]) {"
      "  y0 = and(a, b) y1 = or(a, b) y2 = not(a) y3 = eq(a, b) y4 = lt(a, b) y5 = select(a, x, z)"
      "  return y0, y1, y2, y3, y4, y5 }");
  const std::vector<std::byte> high = elements<std::uint8_t>([](std::size_t i) { return i >> 8; });
  const std::vector<std::byte> low = elements<std::uint8_t>([](std::size_t i) { return i & 0xff; });
  r.same(all_of(4), {high, low, low, high});
}

TEST_CASE("packed words: all halves beside zeros, infinities, NaNs and the least and largest numbers") {
  for (const auto& [type, others] : {std::pair{"f16", std::array{0x0000, 0x8000, 0x0001, 0x8001, 0x7c00, 0xfc00, 0x7e01,
                                                                 0xfd55, 0x7bff, 0xfbff, 0x3c00, 0xc000}},
                                     std::pair{"bf16", std::array{0x0000, 0x8000, 0x0001, 0x8001, 0x7f80, 0xff80,
                                                                  0x7fc1, 0xff95, 0x7f7f, 0xff7f, 0x3f80, 0xc000}},
                                     std::pair{"i16", std::array{0x0000, 0x8000, 0x0001, 0x8001, 0x7fff, 0xffff, 0x00ff,
                                                                 0xff00, 0x0100, 0x7ffe, 0x0003, 0xfffe}}}) {
    Regression r(fmt::format(kOperations, type, "-2"));
    const std::vector<std::byte> all = elements<std::uint16_t>([](std::size_t i) { return i; });
    // Each element beside one of them in a run; in a full run beside all.
    for (std::size_t k = 0; k < others.size(); k += testing::is_full_run() ? 1 : 6) {
      const std::vector<std::byte> other =
          elements<std::uint16_t>([&](std::size_t i) { return others[(i + k) % others.size()]; });
      r.same(all_of(2), {all, other});
      r.same(all_of(2), {other, all});
    }
    // Neighbours that differ in all ways.
    r.same(all_of(2), {elements<std::uint16_t>([](std::size_t i) { return i * 40503; }),
                       elements<std::uint16_t>([&](std::size_t i) { return others[i * 7 % others.size()]; })});
  }
}

}  // namespace padlock::conformance
