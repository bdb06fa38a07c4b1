// The sizes at which a program is measured, and the sizes for which the result counts.

#include "tuner/search/size_plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/common/expect.h"
#include "tuner/cache/choice.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr const char* kPad = "program p(x: f32[A, B]) { z = pad(x, low = [0, 1], high = [0, 2]) return z }";

using padlock::testing::program_of;

SizePolicy policy(std::int64_t memory = 1024 * kMiB) {
  return {.cache_bytes = {kMiB, 32 * kMiB}, .memory_bytes = memory, .seed = 3};
}

ir::Binding bound(const ir::Program& program, const Sizes& sizes) {
  auto binding = bind_sizes(program, sizes);
  REQUIRE(binding);
  return *std::move(binding);
}

/// Each region holds the sizes that stand for it, and a choice takes its text.
void check_regions(const ir::Program& program, const std::vector<PlannedRegion>& regions) {
  std::vector<Choice> choices;
  for (const PlannedRegion& region : regions) choices.push_back({region.region, region.region, {}});
  const auto made = ProgramChoices::create(program, choices, "default");
  REQUIRE_MESSAGE(made, (made ? "" : made.error().to_string()));
  for (const PlannedRegion& region : regions) CHECK(made->choose(bound(program, region.sizes)).config == region.region);
}

}  // namespace

TEST_CASE("without a word there is a region for each cache and one beyond") {
  const ir::Program program = program_of(kPad);
  const auto regions = plan_regions(program, {}, policy());
  REQUIRE(regions);
  REQUIRE(regions->size() == 4);
  CHECK((*regions)[0].region == "12*A + 8*A*B <= 1048576");
  CHECK((*regions)[1].region == "12*A + 8*A*B > 1048576, 12*A + 8*A*B <= 16777216");
  CHECK((*regions)[2].region == "12*A + 8*A*B > 16777216, 12*A + 8*A*B <= 67108864");
  CHECK((*regions)[3].region == "12*A + 8*A*B > 67108864");
  std::vector<Regime> regimes;
  for (const PlannedRegion& region : *regions) regimes.push_back(region.regime);
  CHECK(regimes == std::vector{Regime::warm, Regime::warm, Regime::both, Regime::cold});
  check_regions(program, *regions);
  for (const PlannedRegion& region : *regions) CHECK(region.notes.empty());
}

TEST_CASE("sizes that are drawn are not far off in one symbol") {
  for (const char* text :
       {"program p(x: f32[B, T, C], k: dim) where 0 <= k <= 9 { z = pad(x, low = [0, k, 0], high = [0, 0, 0]) "
        "return z }",
        "program p(x: f32[N, C, H, W], p: dim) where 0 <= p, p < H, p < W { z = pad(x, low = [0, 0, p, p], "
        "high = [0, 0, p, p], mode = reflect) return z }"}) {
    CAPTURE(text);
    const ir::Program program = program_of(text);
    const auto regions = plan_regions(program, {}, policy());
    REQUIRE(regions);
    CHECK(regions->size() == 4);
    check_regions(program, *regions);
    for (const PlannedRegion& region : *regions)
      for (const auto& [name, value] : region.sizes) {
        CHECK(value >= 1);
        CHECK(value <= 2000);
      }
  }
}

TEST_CASE("what a program reads counts, too, where it keeps little of it") {
  const ir::Program program = program_of(
      "program p(x: f32[A, B], n: dim) where 0 <= n, n <= B { z = slice(x, start = [0, 0], limit = [A, n]) return z }");
  const auto regions = plan_regions(program, {}, policy(std::int64_t{1} << 40));
  REQUIRE(regions);
  for (const PlannedRegion& region : *regions) CHECK(scratch_bytes(bound(program, region.sizes)) <= 16 * 4 * 32 * kMiB);
}

TEST_CASE("with every symbol given there is one region, at just these sizes") {
  const ir::Program program = program_of(kPad);
  const auto regions = plan_regions(program, {.min = {}, .opt = {{"A", 100}, {"B", 7}}, .max = {}}, policy());
  REQUIRE(regions);
  REQUIRE(regions->size() == 1);
  CHECK(regions->front().sizes == Sizes{{"A", 100}, {"B", 7}});
  check_regions(program, *regions);
}

TEST_CASE("limits are guards of every region, and leave out those that they exclude") {
  const ir::Program program = program_of(kPad);
  const auto regions = plan_regions(program, {.min = {{"A", 2}}, .opt = {}, .max = {{"A", 64}, {"B", 1000}}}, policy());
  REQUIRE(regions);
  REQUIRE(regions->size() == 1);
  CHECK(regions->front().region == "A >= 2, A <= 64, B <= 1000, 12*A + 8*A*B <= 1048576");
  check_regions(program, *regions);
}

TEST_CASE("what does not fit the memory is replaced by the largest that does, and that is said") {
  const ir::Program program = program_of(kPad);
  const SizeRequest request{.min = {}, .opt = {{"A", 1 << 14}, {"B", 1 << 14}}, .max = {}};
  const auto regions = plan_regions(program, request, policy(50 * kMiB));
  REQUIRE(regions);
  REQUIRE(regions->size() == 1);
  const std::int64_t taken = scratch_bytes(bound(program, regions->front().sizes));
  CHECK(taken <= 50 * kMiB);
  CHECK(taken >= 49 * kMiB);
  REQUIRE(regions->front().notes.size() == 1);
  CHECK(regions->front().notes.front().starts_with("A=16384,B=16384 takes "));
  check_regions(program, *regions);
  const auto none =
      plan_regions(program_of("program p(x: f32[A]) where A >= 100000 { z = relu(x) return z }"), {}, policy(1000));
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Code::not_found);
  CHECK(none.error().message.ends_with("were found that take at most 1000 bytes of scratch memory"));
}

TEST_CASE("sizes that a constraint refuses are replaced by some near them, and that is said") {
  const ir::Program program = program_of("program p(x: f32[A]) where A mod 8 == 0 { z = relu(x) return z }");
  const auto regions = plan_regions(program, {.min = {}, .opt = {{"A", 1001}}, .max = {}}, policy());
  REQUIRE(regions);
  CHECK(regions->front().sizes == Sizes{{"A", 1000}});
  CHECK(regions->front().notes ==
        std::vector<std::string>{"A=1001 is not admitted: measured at A=1000, which is near"});
}

TEST_CASE("a regime that is asked for takes the place of the one that the sizes have") {
  const ir::Program program = program_of(kPad);
  for (const Regime regime : {Regime::warm, Regime::cold, Regime::both}) {
    const auto regions =
        plan_regions(program, {.min = {}, .opt = {{"A", 100}, {"B", 7}}, .max = {}, .regime = regime}, policy());
    REQUIRE(regions);
    CHECK(regions->front().regime == regime);
  }
}

TEST_CASE("what makes no sense is refused") {
  const ir::Program program = program_of(kPad);
  const auto message = [&](const SizeRequest& request) {
    const auto regions = plan_regions(program, request, policy());
    REQUIRE_FALSE(regions);
    CHECK(regions.error().code == Code::invalid_argument);
    return regions.error().message;
  };
  CHECK(message({.min = {}, .opt = {{"C", 1}}, .max = {}}) ==
        "opt names 'C', which is no symbol of program 'p' (it has: A, B)");
  CHECK(message({.min = {{"a", 1}}, .opt = {}, .max = {}}) ==
        "min names 'a', which is no symbol of program 'p' (it has: A, B); did you mean 'A'?");
  CHECK(message({.min = {}, .opt = {}, .max = {{"b", 1}}}).starts_with("max names 'b', "));
  CHECK(message({.min = {{"A", 5}}, .opt = {{"A", 1}}, .max = {}}) ==
        "A = 1 lies outside of what the minimum and maximum say");
}

TEST_CASE("awkward sizes hold 0 and 1 of every symbol, and the program admits them") {
  const ir::Program program = program_of(kPad);
  const std::vector<Sizes> list = awkward_sizes(program, 1);
  CHECK(list.size() >= 10);
  for (const char* name : {"A", "B"})
    for (const std::int64_t value : {0, 1})
      CHECK(std::ranges::any_of(list, [&](const Sizes& sizes) { return sizes.at(name) == value; }));
  for (const Sizes& sizes : list) static_cast<void>(bound(program, sizes));
}

}  // namespace padlock::tuner
