#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/reference/pad_rule.h"
#include "tests/common/environment.h"
#include "tests/common/rng.h"
#include "tests/ir/reference/reference_run.h"

// The adjoint of a pad on the interpreter, against a walk over all elements of the pad that adds each to its source.
using namespace padlock;
using namespace padlock::ir;
using namespace padlock::ir::testing;
using padlock::testing::Rng;

namespace {

using F32 = std::vector<float>;
using Ints = std::vector<std::int64_t>;

/// A pad of every axis in one mode.
struct Pad {
  PadMode mode = PadMode::constant;
  Ints extents, low, high, interior;

  [[nodiscard]] std::size_t rank() const { return extents.size(); }
  [[nodiscard]] Ints padded() const {
    Ints made;
    for (std::size_t i = 0; i < rank(); ++i)
      made.push_back(low[i] + extents[i] + std::max<std::int64_t>(extents[i] - 1, 0) * interior[i] + high[i]);
    return made;
  }
};

std::int64_t count_of(const Ints& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

/// The number of the source of an element of the pad, if it has one.
std::optional<std::size_t> source_of(const Pad& pad, const Ints& at) {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < pad.rank(); ++i) {
    const PadAxis axis{.mode = pad.mode, .extent = pad.extents[i], .low = pad.low[i], .interior = pad.interior[i]};
    const auto source = pad_source(axis, at[i]);
    if (!source) return std::nullopt;
    number = number * pad.extents[i] + *source;
  }
  return static_cast<std::size_t>(number);
}

/// Adds each element to its source, in row-major order; the first one is taken unchanged.
template <class T>
std::vector<T> scattered(const Pad& pad, const std::vector<T>& g) {
  const Ints padded = pad.padded();
  std::vector<T> sums(static_cast<std::size_t>(count_of(pad.extents)));
  std::vector<bool> has_first(sums.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const auto source = source_of(pad, coordinates_of(i, padded));
    if (!source) continue;
    sums[*source] = has_first[*source] ? static_cast<T>(sums[*source] + g[i]) : g[i];
    has_first[*source] = true;
  }
  return sums;
}

/// Returns the program for all sizes; `bind` chooses them.
std::string program_of(PadMode mode, const Ints& interior, std::string_view type) {
  std::vector<std::string> extents, lows, highs, padded, dims;
  for (std::size_t i = 0; i < interior.size(); ++i) {
    extents.push_back(fmt::format("n{}", i));
    lows.push_back(fmt::format("l{}", i));
    highs.push_back(fmt::format("h{}", i));
    padded.push_back(fmt::format("l{0} + n{0} + max(n{0} - 1, 0) * {1} + h{0}", i, interior[i]));
    dims.push_back(fmt::format("n{0}: dim, l{0}: dim, h{0}: dim", i));
  }
  return fmt::format(
      "program p(g: {}[{}], {}) {{ x = pad_adjoint(g, extent = [{}], low = [{}], high = [{}], {}mode = {}) "
      "return x }}",
      type, fmt::join(padded, ", "), fmt::join(dims, ", "), fmt::join(extents, ", "), fmt::join(lows, ", "),
      fmt::join(highs, ", "),
      mode == PadMode::constant ? fmt::format("interior = [{}], ", fmt::join(interior, ", ")) : "", name_of(mode));
}

/// The adjoint of one pad by the interpreter.
template <class T>
std::vector<T> evaluated(const Program& program, const Pad& pad, const std::vector<T>& g) {
  BindRequest request{.tensors = {}, .symbols = {}};
  for (std::size_t i = 0; i < pad.rank(); ++i) {
    request.symbols[fmt::format("n{}", i)] = pad.extents[i];
    request.symbols[fmt::format("l{}", i)] = pad.low[i];
    request.symbols[fmt::format("h{}", i)] = pad.high[i];
  }
  request.tensors.emplace_back(ArgumentShape{.extents = pad.padded(), .strides = std::nullopt});
  const auto binding = Binding::bind(program, request);
  if (!binding) FAIL(binding.error().to_string());
  Interpreter interpreter(*binding, {std::as_bytes(std::span(g))}, {});
  std::vector<T> sums(static_cast<std::size_t>(count_of(pad.extents)));
  const auto status = interpreter.evaluate(program.results()[0], std::as_writable_bytes(std::span(sums)));
  if (!status) FAIL(status.error().to_string());
  return sums;
}

/// Numbers between which sums round, so that their order shows.
F32 rounding_numbers(std::int64_t count, Rng& rng) {
  F32 numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(
        std::ldexp(static_cast<float>(rng.between(-(1 << 20), 1 << 20)), static_cast<int>(rng.between(-12, 12))));
  return numbers;
}

Pad drawn(PadMode mode, const Ints& interior, Rng& rng) {
  const auto rank = static_cast<std::int64_t>(interior.size());
  const std::int64_t most = rank > 3 ? 3 : rank > 1 ? 5 : 12;
  const std::int64_t widest = rank > 3 ? 3 : rank > 1 ? 7 : 40;
  Pad pad{.mode = mode, .extents = {}, .low = {}, .high = {}, .interior = interior};
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t n = rng.between(rng.chance(10) ? 0 : 1, most);
    const std::int64_t spread = n + std::max<std::int64_t>(n - 1, 0) * interior[static_cast<std::size_t>(i)];
    const std::int64_t low = rng.chance(20) ? 0 : rng.between(-std::min(spread, widest), widest);
    pad.extents.push_back(n);
    pad.low.push_back(low);
    // Of an axis without elements the modes that repeat make none.
    const bool stays_empty = n == 0 && mode != PadMode::constant;
    pad.high.push_back(stays_empty ? -low : rng.between(-spread - low, std::max(-spread - low, widest)));
  }
  return pad;
}

}  // namespace

TEST_CASE("pad_adjoint: published pictures, read backwards") {
  const auto sums = [](std::string_view arguments, std::vector<std::int32_t> g) {
    const auto count = static_cast<std::int64_t>(g.size());
    return run<std::int32_t>(fmt::format("program p(g: i32[M]) {{ x = pad_adjoint(g, {}) return x }}", arguments),
                             {tensor({count}, g)});
  };
  using I32 = std::vector<std::int32_t>;
  CHECK(sums("extent = [3], low = [1], high = [2]", {9, 1, 2, 3, 9, 9}) == I32{1, 2, 3});
  CHECK(sums("extent = [3], low = [-1], high = [0], interior = [1]", {9, 2, 9, 3}) == I32{0, 2, 3});
  CHECK(sums("extent = [3], low = [2], high = [2], mode = edge", {1, 2, 4, 8, 16, 32, 64}) == I32{7, 8, 112});
  CHECK(sums("extent = [4], low = [1], high = [2], mode = reflect", {1, 2, 4, 8, 16, 32, 64}) == I32{2, 69, 40, 16});
  CHECK(sums("extent = [2], low = [3], high = [1], mode = symmetric", {1, 2, 4, 8, 16, 32}) == I32{12, 51});
  CHECK(sums("extent = [3], low = [2], high = [1], mode = wrap", {1, 2, 4, 8, 16, 32}) == I32{36, 9, 18});
  CHECK(sums("extent = [1], low = [2], high = [1], mode = reflect", {1, 2, 4, 8}) == I32{15});
  CHECK(sums("extent = [0], low = [0], high = [0], mode = reflect", {}).empty());
  CHECK(sums("extent = [3], low = [0], high = [-3], mode = wrap", {}) == I32{0, 0, 0});
}

TEST_CASE("pad_adjoint: one term keeps its bits, none gives 0, more are added in order") {
  const auto text = [](std::string_view type, std::string_view pad) {
    return fmt::format("program p(g: {}[M]) {{ x = pad_adjoint(g, {}) return x }}", type, pad);
  };
  const float payload = std::bit_cast<float>(0x7f812345U);
  const F32 kept = run<float>(text("f32", "extent = [4], low = [-1], high = [-1], mode = edge"),
                              {tensor<float>({2}, {payload, -0.0F})});
  CHECK(std::bit_cast<std::uint32_t>(kept[1]) == 0x7f812345U);
  CHECK(std::signbit(kept[2]));
  CHECK(std::bit_cast<std::uint32_t>(kept[0]) == 0);
  CHECK(std::bit_cast<std::uint32_t>(kept[3]) == 0);
  const auto zeros =
      run<float>(text("f32", "extent = [1], low = [1], high = [0], mode = edge"), {tensor<float>({2}, {-0.0F, -0.0F})});
  CHECK(std::signbit(zeros[0]));
  // (2^24 + 1) + 1 is 2^24, and 2^24 + (1 + 1) is not.
  const auto ordered = [&](const F32& g) {
    return run<float>(text("f32", "extent = [1], low = [1], high = [1], mode = wrap"), {tensor<float>({3}, g)})[0];
  };
  CHECK(ordered({16777216, 1, 1}) == 16777216.0F);
  CHECK(ordered({1, 1, 16777216}) == 16777218.0F);
  // 2048 + 1 + 1, rounded once from 2050; rounding twice would give 2048.
  const auto halves = run<std::uint16_t>(text("f16", "extent = [1], low = [1], high = [1], mode = wrap"),
                                         {tensor<std::uint16_t>({3}, {0x6800, 0x3c00, 0x3c00})});
  CHECK(halves[0] == 0x6801);
  const auto bytes = run<std::uint8_t>(text("u8", "extent = [1], low = [1], high = [0], mode = wrap"),
                                       {tensor<std::uint8_t>({2}, {200, 100})});
  CHECK(bytes[0] == 44);
  const auto wide = run<std::int64_t>(text("i64", "extent = [1], low = [1], high = [0], mode = wrap"),
                                      {tensor<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::max(), 1})});
  CHECK(wide[0] == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("pad_adjoint: a term may be computed, shared, or another sum") {
  const std::string text =
      "program p(g: i32[M, N]) where M == 3, N == 5 { n = neg(g) "
      "a = pad_adjoint(n, extent = [3, 3], low = [0, 1], high = [0, 1], mode = reflect) s = add(a, a) "
      "b = pad_adjoint(s, extent = [1, 3], low = [1, 0], high = [1, 0], mode = edge) return b }";
  CHECK(run<std::int32_t>(text, {iota<std::int32_t>({3, 5})}) == std::vector<std::int32_t>{-36, -126, -48});
}

TEST_CASE("pad_adjoint: adds what a walk over the pad adds, of 1 to 5 axes, whose order shows") {
  const std::uint64_t seed = padlock::testing::seed_or(20261);
  MESSAGE("PADLOCK_SEED=" << seed);
  Rng rng(seed);
  std::int64_t terms = 0;
  for (std::int64_t rank = 1; rank <= 5; ++rank)
    for (const PadMode mode : kPadModes)
      for (int form = 0; form < 3; ++form) {
        Ints interior(static_cast<std::size_t>(rank));
        if (mode == PadMode::constant && form > 0)
          for (std::int64_t& k : interior) k = rng.between(0, 3);
        const std::string text = program_of(mode, interior, "f32");
        const Program program = padlock::testing::program_of(text);
        for (int i = 0; i < 100; ++i) {
          const Pad pad = drawn(mode, interior, rng);
          const std::int64_t count = count_of(pad.padded());
          if (count > 4096) continue;
          const F32 g = rounding_numbers(count, rng);
          const F32 found = evaluated(program, pad, g);
          const F32 expected = scattered(pad, g);
          terms += count;
          REQUIRE(found.size() == expected.size());
          if (found.empty() || std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0) continue;
          FAIL(text << ": extents "
                    << fmt::format("{}, low {}, high {}", fmt::join(pad.extents, ","), fmt::join(pad.low, ","),
                                   fmt::join(pad.high, ",")));
        }
      }
  MESSAGE(terms << " terms");
  CHECK(terms >= 154'440);
}
