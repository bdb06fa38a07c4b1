#include "tests/differential/random_data.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/text/literal.h"
#include "tests/common/environment.h"

namespace padlock::differential {
namespace {

using ir::DType;

int count_where(DType dtype, bool (*wanted)(std::uint64_t)) {
  testing::Rng rng(testing::seed_or(1));
  int found = 0;
  for (int i = 0; i < 20000; ++i) found += wanted(random_bits(dtype, rng)) ? 1 : 0;
  return found;
}

TEST_CASE("float data holds ties of the narrower formats and one last bit beside them") {
  const auto tie = [](std::uint64_t b) { return (b & 0x1fff) == 0x1000; };
  CHECK(count_where(DType::f32, tie) > 100);
  CHECK(count_where(DType::f32, [](std::uint64_t b) { return (b & 0x1fff) == 0x1001; }) > 100);
  CHECK(count_where(DType::f32, [](std::uint64_t b) { return (b & 0xffff) == 0x8000; }) > 100);
  CHECK(count_where(DType::f32, [](std::uint64_t b) { return (b & 0xffff) == 0x7fff; }) > 100);
  CHECK(count_where(DType::f64, [](std::uint64_t b) { return (b & 0x1fffffff) == 0x10000000; }) > 100);
}

TEST_CASE("float data holds NaN payloads, infinities, denormals and signed zeros") {
  CHECK(count_where(DType::f32, [](std::uint64_t b) { return (b & 0x7fc00000) == 0x7f800000 && (b & 0x3fffff) != 0; }) >
        100);
  CHECK(count_where(DType::f16, [](std::uint64_t b) { return (b & 0x7c00) == 0x7c00 && (b & 0x3ff) > 1; }) > 100);
  CHECK(count_where(DType::bf16, [](std::uint64_t b) { return b == 0xff80; }) > 20);
  CHECK(count_where(DType::f64, [](std::uint64_t b) { return b == std::uint64_t{1} << 63; }) > 20);
  CHECK(count_where(DType::f32, [](std::uint64_t b) { return (b & 0x7f800000) == 0 && (b & 0x7fffff) != 0; }) > 100);
}

TEST_CASE("integer data holds extremes and what rounds to a tie") {
  CHECK(count_where(DType::i64, [](std::uint64_t b) { return b == std::uint64_t{1} << 63; }) > 100);
  CHECK(count_where(DType::i32, [](std::uint64_t b) { return b == 16777217; }) > 20);
  CHECK(count_where(DType::u8, [](std::uint64_t b) { return b > 255; }) == 0);
  CHECK(count_where(DType::boolean, [](std::uint64_t b) { return b > 1; }) > 100);
}

TEST_CASE("every random literal is one of the language") {
  testing::Rng rng(testing::seed_or(2));
  for (const DType t : ir::kAllDTypes) {
    for (int i = 0; i < 500; ++i) {
      const std::string text = random_literal(t, rng);
      CAPTURE(text);
      CHECK(ir::parse_literal(text, t).has_value());
    }
  }
}

}  // namespace
}  // namespace padlock::differential
