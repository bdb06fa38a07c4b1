// Class D: index width, overflow and limits of extents. An index is as wide as its emitted arithmetic needs,
// intermediates and bytes included, for all sizes. The proofs hold for every size; padlock_large_sizes runs results
// past 2^31 elements, compiler_address_test only their addresses.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {
namespace {

using Kind = compiler::ObligationKind;

/// No index is computed in fewer than 64 bits, and all of them fit these. Element types must not be i32.
void check_width(Regression& r) {
  r.proves(Kind::width, "in 64 bits");
  const std::string text = r.emit(session::Stage::llvm);
  REQUIRE(text.find("mul i64") != std::string::npos);
  for (const char* narrow : {"add i32", "sub i32", "mul i32", "trunc i64", "sext i32", "zext i32"})
    CHECK_MESSAGE(text.find(narrow) == std::string::npos, narrow);
}

}  // namespace

TEST_CASE("tensorflow_91027: every mode has the width of its result, not of its input" *
          doctest::test_suite("host code")) {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"}) {
    Regression r(std::string("program p(x: u8[A, B, C], k: dim) where A >= 1, B >= 1, k >= 0 {"
                             "  y = pad(x, low = [k, k, 0], high = [k, k, 0], mode = ") +
                 mode + ") return y }");
    r.proves(Kind::load, "x[");
    r.proves(Kind::store, "y in columns");
    const Sizes report{{shape({500, 500, 5000})}, {{"k", 100}}};
    CHECK(r.storage_bytes(report, "x") == 1'250'000'000);
    CHECK(r.storage_bytes(report, "y") == 2'450'000'000);
    check_width(r);
    r.same({{shape({5, 6, 70})}, {{"k", 3}}});
  }
}

TEST_CASE("torchdynamo_1821: where a task begins is computed in the type of an index" *
          doctest::test_suite("host code")) {
  Regression r("program p(x: u8[A, B], k: dim) { y = pad(x, low = [k, k], high = [-k, -k]) return y }");
  r.proves(Kind::disjoint, "y in columns");
  r.proves(Kind::cover, "rows of p_0");
  CHECK(r.storage_bytes({{shape({401408, 8192})}, {{"k", 1}}}, "y") == 3'288'334'336);
  check_width(r);
  r.same({{shape({5, 70})}, {{"k", 1}}});
}

TEST_CASE("pytorch_145350: replicated frames whose offset is a product of three extents") {
  Regression r(
      "program p(x: f32[N, H, W], k: dim) where H >= 1, W >= 1 {"
      "  y = pad(x, low = [0, k, k], high = [0, k, k], mode = edge) return y }");
  r.proves(Kind::load, "x[");
  CHECK(r.storage_bytes({{shape({8388907, 16, 16})}, {{"k", 1}}}, "y") == std::int64_t{8388907} * 18 * 18 * 4);
  for (const std::int64_t k : {-3, 0, 1, 9}) r.same({{shape({3, 7, 9})}, {{"k", k}}});
}

TEST_CASE("flashinfer_3391: nothing changes at 2^31, by one element more or less") {
  for (const char* extent : {"A == 2147483647", "A == 2147483648", "A == 2147483649", "A == 4294967297"}) {
    Regression r(std::string("program p(x: i8[A], k: dim) where ") + extent +
                 " { y = pad(x, low = [k], high = [-k]) return y }");
    r.proves(Kind::load, "x[");
    r.proves(Kind::cover, "columns of p_0");
  }
  Regression all("program p(x: i8[A, B]) { y = pad(x, low = [0, 1], high = [0, 0]) return y }");
  all.proves(Kind::load, "x[");
  all.same({{shape({2, 513})}});
}

TEST_CASE("pytorch_186749: what is limited is bytes, not elements") {
  constexpr std::string_view kText = "[A, B], k: dim) { y = pad(x, low = [0, k], high = [0, k]) return y }";
  const Sizes most{{shape({std::int64_t{1} << 23, std::int64_t{1} << 23})}, {{"k", 0}}};
  Regression bytes("program p(x: i8" + std::string(kText));
  CHECK(bytes.storage_bytes(most, "x") == std::int64_t{1} << 46);
  Regression halves("program p(x: bf16" + std::string(kText));
  halves.refuses(most, "x");
  CHECK(halves.storage_bytes({{shape({40000, 40000})}, {{"k", 0}}}, "x") == 3'200'000'000);
  halves.proves(Kind::load, "x[");
  halves.same({{shape({3, 40})}, {{"k", 2}}});
}

TEST_CASE("tinygrad_8268: factors are wide before they are multiplied" * doctest::test_suite("host code")) {
  Regression r(
      "program p(x: i16[A, B] strides [P, 1], k: dim) where B >= 1 {"
      "  y = pad(x, low = [k, 0], high = [k, 1], mode = constant) return y }");
  r.proves(Kind::load, "x[");
  CHECK(r.storage_bytes({{shape({64, 37748736}, {37748736, 1})}, {{"k", 1}}}, "x") == std::int64_t{64} * 37748736 * 2);
  check_width(r);
  for (const std::int64_t k : {-1, 0, 2}) r.same({{shape({5, 33}, {40, 1})}, {{"k", k}}});
}

TEST_CASE("pytorch_182193: chunks whose offsets are products") {
  Regression r(
      "program p(x: i16[C, V, K] strides [V * K, K, 1], c: dim) where 0 <= c, c < C {"
      "  s = slice(x, start = [c, 0, 0], limit = [C, V, K]) y = pad(s, low = [0, 1, -1], high = [0, 0, 0], value = 5)"
      "  return y }");
  for (const std::int64_t c : {0, 2, 4}) r.same({{shape({5, 7, 33}, {231, 33, 1})}, {{"c", c}}});
}

TEST_CASE("pytorch_165861: extents around 65535 on every axis") {
  Regression r(
      "program p(x: i8[A, B, C]) {"
      "  y = pad(x, low = [0, 1, 1], high = [1, 0, -1], mode = reflect) return y }");
  for (const std::int64_t n : {65535, 65536, 65537}) {
    r.same({{shape({n, 1, 2})}});
    r.same({{shape({1, n, 2})}});
    r.same({{shape({1, 2, n})}});
  }
}

TEST_CASE("tensorflow_51908: pads at the ends of 64 bits are errors that name the expression") {
  Regression r(
      "program p(x: f32[A, B], k: dim) where -9223372036854775807 <= k, k <= 9223372036854775807 {"
      "  y = pad(x, low = [k, k], high = [k, k]) return y }");
  for (const std::int64_t k : {std::int64_t{1} << 31, std::int64_t{1} << 62, std::int64_t{9223372036854775807}})
    r.refuses({{shape({4, 5})}, {{"k", k}}}, "k");
  for (const std::int64_t k : {-(std::int64_t{1} << 31), -(std::int64_t{1} << 62), -std::int64_t{9223372036854775807}})
    r.refuses({{shape({4, 5})}, {{"k", k}}}, "k");
}

TEST_CASE("tensorflow_51908: a product of extents that overflows is an error that names it") {
  Regression r("program p(a: i8[A], b: dim, c: dim) { y = broadcast(a, shape = [b, c, A], axes = [2]) return y }");
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  r.refuses({{shape({8})}, {{"b", kBig}, {"c", kBig}}}, "y");
  r.refuses({{shape({8})}, {{"b", std::int64_t{1} << 22}, {"c", std::int64_t{1} << 22}}}, "y");
  r.same({{shape({8})}, {{"b", 0}, {"c", kBig}}});
  Regression stated("program p(x: i8[A], b: dim) { y = pad(x, low = [b * b * b], high = [0]) return y }");
  stated.refuses({{shape({8})}, {{"b", kBig}}}, "b*b*b");
  stated.same({{shape({8})}, {{"b", 3}}});
}

TEST_CASE("tensorflow_51908: a symbol beyond its bound is refused") {
  Regression r("program p(x: i8[A, B], k: dim) { y = pad(x, low = [0, k], high = [0, 0]) return y }");
  r.refuses({{shape({4, 5})}, {{"k", (std::int64_t{1} << 40) + 1}}}, "k");
  r.refuses({{shape({4, 5})}, {{"k", std::int64_t{1} << 62}}}, "k");
}

TEST_CASE("mlx_3720: a negative stride is refused") {
  Regression r("program p(x: f32[A] strides [S]) { y = relu(x) return y }");
  r.refuses({{shape({4}, {-1})}}, "stride");
  r.same({{shape({4}, {0})}});
}

TEST_CASE("paddle_74034: a crop of the low side at an odd extent, in every position of three axes") {
  Regression r(
      "program p(x: f32[A, B, C], a: dim, b: dim, c: dim) {"
      "  y = pad(x, low = [a, b, c], high = [0, 0, 0], value = 1) return y }");
  r.same({{shape({13, 47, 7})}, {{"a", -3}, {"b", 0}, {"c", 0}}});
  r.same({{shape({13, 47, 7})}, {{"a", 0}, {"b", -3}, {"c", 0}}});
  r.same({{shape({13, 47, 7})}, {{"a", 0}, {"b", 0}, {"c", -3}}});
}

}  // namespace padlock::regressions
