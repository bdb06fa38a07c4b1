// Sizes for measuring, drawn from a program's requirements.

#include "solver/binding_search.h"

#include <doctest/doctest.h>

#include "tests/common/environment.h"
#include "tests/common/expect.h"
#include "tests/common/rng.h"

namespace padlock::solver {
namespace {

using testing::program_of;

BindingSearch search_of(const ir::Program& program, SizeLimits limits = {}) {
  auto search = BindingSearch::create(program, std::move(limits));
  REQUIRE(search);
  return *std::move(search);
}

SymbolValues drawn(const std::string& text, const SymbolValues& wanted, SizeLimits limits = {}) {
  const ir::Program program = program_of(text);
  BindingSearch search = search_of(program, std::move(limits));
  const auto binding = search.nearest(wanted, 64, 1);
  REQUIRE_MESSAGE(binding, (binding ? "" : binding.error().to_string()));
  CHECK(search.values_of(*search.nearest(wanted, 64, 1)) == search.values_of(*binding));
  return search.values_of(*binding);
}

std::string error_of(const std::string& text, SizeLimits limits) {
  const ir::Program program = program_of(text);
  auto search = BindingSearch::create(program, std::move(limits));
  if (!search) {
    CHECK(search.error().code == Code::invalid_argument);
    return search.error().message;
  }
  const auto binding = search->nearest({}, 64, 1);
  REQUIRE_FALSE(binding);
  CHECK(binding.error().code == Code::not_found);
  return binding.error().message;
}

constexpr const char* kFree = "program p(x: f32[A, B]) { z = relu(x) return z }";

}  // namespace

TEST_CASE("what is wanted is taken where the program admits it") {
  CHECK(drawn(kFree, {{"A", 3}}) == SymbolValues{{"A", 3}, {"B", 64}});
  CHECK(drawn("program p(x: f32[A], lo: dim) where 0 <= lo <= 9 { z = pad(x, low = [lo], high = [0]) return z }",
              {{"A", 7}}) == SymbolValues{{"A", 7}, {"lo", 1}});
}

TEST_CASE("what is not is replaced by what is near") {
  CHECK(drawn("program p(x: f32[A]) where A mod 8 == 0 { z = relu(x) return z }", {{"A", 1001}}).at("A") == 1000);
  CHECK(drawn("program p(x: f32[A, B]) where A == 2 * B { z = relu(x) return z }", {{"B", 50}}) ==
        SymbolValues{{"A", 100}, {"B", 50}});
  const SymbolValues sum = drawn("program p(x: f32[A, B]) where A + B == 100 { z = relu(x) return z }", {{"A", 99}});
  CHECK(sum.at("A") + sum.at("B") == 100);
  // A product: its cases are searched.
  const SymbolValues product =
      drawn("program p(x: f32[A, B]) where A * B == 36, A >= 5 { z = relu(x) return z }", {{"A", 6}, {"B", 6}});
  CHECK(product.at("A") * product.at("B") == 36);
}

TEST_CASE("a slice's limits are kept") {
  const SymbolValues sizes =
      drawn("program p(x: f32[A], n: dim) where n >= 4 { z = slice(x, start = [n], limit = [2 * n]) return z }",
            {{"A", 100}});
  CHECK(sizes.at("A") >= 2 * sizes.at("n"));
}

TEST_CASE("limits hold, and strides are dense") {
  CHECK(drawn(kFree, {{"A", 3}}, {.min = {{"A", 5}}, .max = {{"B", 16}}}) == SymbolValues{{"A", 5}, {"B", 16}});
  CHECK(drawn("program p(x: f32[A, B] strides [S, 1]) { z = relu(x) return z }", {{"A", 3}, {"B", 5}}).at("S") == 5);
}

TEST_CASE("where there are none, that is said") {
  CHECK(error_of(kFree, {.min = {{"C", 1}}, .max = {}}) == "program 'p' has no symbol 'C'");
  CHECK(error_of(kFree, {.min = {{"A", 2}}, .max = {{"A", 1}}}) == "the minimum of A is 2, above its maximum 1");
  CHECK(error_of("program p(x: f32[A]) where A >= 10 { z = relu(x) return z }", {.min = {}, .max = {{"A", 9}}}) ==
        "program 'p' admits no sizes within these limits");
  CHECK(error_of("program p(x: f32[A, B]) where A * B == 1000003, A >= 2, B >= 2 { z = relu(x) return z }", {})
            .starts_with("no sizes of program 'p' were found"));
}

TEST_CASE("whatever is wanted, what is found satisfies the program") {
  const std::uint64_t seed = testing::seed_or(7);
  CAPTURE(seed);
  testing::Rng random(seed);
  const ir::Program program = program_of(
      "program p(x: f32[A, B], lo: dim) where A mod 4 == 1, B <= 2 * A, -8 <= lo <= 8, B + lo >= 0 "
      "{ z = pad(x, low = [0, lo], high = [0, -(B + lo) mod 8]) return z }");
  BindingSearch search = search_of(program);
  for (int i = 0; i < 50; ++i) {
    const auto binding = search.nearest(
        {{"A", random.between(-5, 500)}, {"B", random.between(-5, 5000)}, {"lo", random.between(-20, 20)}}, 64, seed);
    REQUIRE(binding);
    const SymbolValues values = search.values_of(*binding);
    CHECK(values.at("A") % 4 == 1);
    CHECK(values.at("B") <= 2 * values.at("A"));
  }
}

}  // namespace padlock::solver
