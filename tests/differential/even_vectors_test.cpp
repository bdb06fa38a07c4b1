#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "tests/differential/variant_run.h"

// A grid's code for launches in which no segment ends inside a vector, thread by thread. Tensors lie at any multiple of
// their element, so that vectors of the output are aligned or not, and loads, too.
namespace padlock::differential {
namespace {

constexpr std::uint64_t kSeeds = 12;

void check(const Case& of) {
  CAPTURE(of.text);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const bool bounds_check : {false, true}) {
      CAPTURE(seed);
      CAPTURE(bounds_check);
      CHECK(run(of, {.seed = seed, .only = "_no_edges", .bounds_check = bounds_check}) == "");
    }
}

/// Checks a program for several types, with the sizes for their vectors of so many elements.
void check_types(const std::string& before, const std::string& after, const std::function<Case(std::int64_t)>& sizes) {
  for (const auto& [type, lanes] : {std::pair{"f16", std::int64_t{8}}, {"i8", 16}, {"bf16", 8}}) {
    Case of = sizes(lanes);
    of.text = before + type + after;
    check(of);
  }
}

}  // namespace

TEST_CASE("no edges: rows that are padded and cropped by whole vectors") {
  const auto sizes = [](std::int64_t n) { return Case{"", {{2, 5, 3 * n}}, {{"l", n}, {"h", 2 * n}}}; };
  const char* pad =
      "[A, B, C], l: dim, h: dim) where -99 <= l <= 99, -99 <= h <= 99 "
      "{ y = pad(x, low = [0, 1, l], high = [0, 0, h], value = 3) z = relu(y) return z }";
  check_types("program p(x: ", pad, sizes);
  check_types("program p(x: ", pad, [](std::int64_t n) { return Case{"", {{2, 5, 4 * n}}, {{"l", -n}, {"h", n}}}; });
}

TEST_CASE("no edges: tensors of whole vectors are joined, and more than one result is stored") {
  for (const auto& [type, n] : {std::pair{"f16", std::int64_t{8}}, {"u8", 16}}) {
    const std::string t = type;
    check({"program p(x: " + t + "[A, B], y: " + t + "[A, C], l: dim) where 0 <= l <= 8 " +
               "{ z = concat(x, y, axis = 1) w = pad(z, low = [l, 0], high = [0, 0]) return w, z }",
           {{9, 2 * n}, {9, n}}});
  }
}

TEST_CASE("no edges: rows whose lengths the program has are always even") {
  check(
      {"program p(x: f16[A, 24], y: f16[A, 8], l: dim) where 0 <= l <= 8 "
       "{ z = concat(x, y, axis = 1) w = pad(z, low = [0, 16], high = [l, 0]) return w }",
       {{9, 24}, {9, 8}}});
}

TEST_CASE("no edges: casts of narrow elements, and a bias of a row") {
  check(
      {"program p(x: u8[A, B], l: dim) where 0 <= l <= 8 "
       "{ y = cast(x, f32) z = pad(y, low = [0, l], high = [0, 4]) return z }",
       {{7, 12}},
       {{"l", 4}}});
  check(
      {"program p(x: f16[A, B, C], b: f16[B], l: dim) where 0 <= l <= 8 "
       "{ c = broadcast(b, shape = [A, B, C], axes = [1]) y = add(x, c) "
       "z = pad(y, low = [0, 0, l], high = [0, l, 0], value = 2) return z }",
       {{3, 4, 16}, {4}},
       {{"l", 8}}});
}

TEST_CASE(
    "no edges: a launch whose segments end inside a vector, or whose rows do not begin with one, has other code") {
  const std::string pad =
      "program p(x: f16[A, B], l: dim) where -99 <= l <= 99 { y = pad(x, low = [0, l], high = [0, 8]) return y }";
  const ir::Program program = testing::program_of(pad);
  const auto compiler = testing::value_of(compiler::TargetCompiler::create("sm_90"));
  const abi::CompiledCode code = testing::value_of(compiler->compile(program, {}));
  const auto takes = [&](std::int64_t columns, std::int64_t low) {
    ir::BindRequest request;
    request.tensors = {ir::ArgumentShape{{100, columns}, {}}};
    request.symbols = {{"l", low}};
    const ir::Binding binding = testing::value_of(ir::Binding::bind(program, request));
    return std::ranges::any_of(code.kernels[0], [&](const abi::KernelVariant& variant) {
      return variant.abi.name.ends_with("_no_edges") && abi::guards_hold(variant.abi, binding);
    });
  };
  CHECK(takes(64, 8));
  CHECK(takes(64, -8));
  CHECK_FALSE(takes(64, 4));
  CHECK_FALSE(takes(60, 4));  // the output's rows are whole vectors, the segments are not
  CHECK_FALSE(takes(60, 12));
  CHECK_FALSE(takes(64, -4));
}

}  // namespace padlock::differential
