#include "tuner/cache/choice.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ir/verify/guards.h"
#include "tests/tuner/cache/samples.h"

namespace padlock::tuner {
namespace {

constexpr const char* kText = R"(program p(x: f32[B, S], lo: dim)
where 0 <= lo <= 8
{
  y = pad(x, low = [0, lo], high = [0, 0])
  return y
})";

ir::Program program() { return *ir::parse_program(kText); }

std::string choose(const ir::Program& p, const ProgramChoices& choices, std::int64_t b, std::int64_t s) {
  const auto binding = ir::Binding::bind(p, {.tensors = {std::nullopt}, .symbols = {{"B", b}, {"S", s}, {"lo", 1}}});
  REQUIRE(binding);
  const Chosen chosen = choices.choose(*binding);
  return chosen.config + " | " + chosen.reason;
}

TEST_CASE("the region that holds the sizes serves, the one with more guards first") {
  const ir::Program p = program();
  std::vector<Choice> list = {testing::choice("S >= 1024", "rows"),
                              testing::choice("S >= 1024, S * 4 mod 16 == 0", "wide"),
                              testing::choice("S < 64", "flat")};
  const std::string none = "default | no tuned region holds these sizes: the default config";
  for (int order = 0; order < 3; ++order) {
    std::ranges::rotate(list, list.begin() + 1);
    const auto choices = ProgramChoices::create(p, list, "default");
    REQUIRE(choices);
    CHECK(choose(p, *choices, 1, 1024) == "wide | tuned for S >= 1024, S * 4 mod 16 == 0");
    CHECK(choose(p, *choices, 1, 1025) == "rows | tuned for S >= 1024");
    CHECK(choose(p, *choices, 1, 63) == "flat | tuned for S < 64");
    CHECK(choose(p, *choices, 1, 64) == none);
  }
}

TEST_CASE("a region without guards holds all sizes, after the others") {
  const ir::Program p = program();
  const auto choices =
      ProgramChoices::create(p, {testing::choice("", "any"), testing::choice("B == 2", "two")}, "default");
  REQUIRE(choices);
  CHECK(choose(p, *choices, 1, 5) == "any | tuned for all sizes");
  CHECK(choose(p, *choices, 2, 5) == "two | tuned for B == 2");
}

TEST_CASE("the reason says how many configs a choice was made among") {
  const ir::Program p = program();
  std::vector<Choice> list = {testing::choice("", "any"), testing::choice("B == 2", "two")};
  list[0].coverage = {.measured = 1, .candidates = 24};
  list[1].coverage = {.measured = 18, .candidates = 24};
  const auto choices = ProgramChoices::create(p, list, "default");
  REQUIRE(choices);
  CHECK(choose(p, *choices, 1, 5) == "any | tuned for all sizes, 1 of 24 configs measured");
  CHECK(choose(p, *choices, 2, 5) == "two | tuned for B == 2, 18 of 24 configs measured");
}

TEST_CASE("a program that was not tuned gets the default config, and says so") {
  const ir::Program p = program();
  const auto choices = ProgramChoices::create(p, {}, "default");
  REQUIRE(choices);
  CHECK(choose(p, *choices, 1, 5) == "default | not tuned: the default config");
}

TEST_CASE("a guard that overflows does not hold") {
  const ir::Program p = program();
  std::string product = "S";
  for (int i = 0; i < 12; ++i) product += " * (S + 1)";
  const auto choices = ProgramChoices::create(p, {testing::choice(product + " >= 0", "c")}, "default");
  REQUIRE(choices);
  CHECK(choose(p, *choices, 1, 3).starts_with("c | tuned"));
  CHECK(choose(p, *choices, 0, 1 << 30).starts_with("default | no tuned region"));
}

TEST_CASE("guards are the program's, in its syntax") {
  const ir::Program p = program();
  CHECK(ir::parse_guards(p, "")->empty());
  CHECK(ir::parse_guards(p, "0 <= lo < S mod 16, B == 2")->size() == 3);
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"T >= 1", "expected a symbol, found the unknown name 'T'"},
           {"x >= 1", "expected a symbol, found the unknown name 'x'"},
           {"S", "expected an operator or a comparison"},
           {"S >= 1,", "expected"},
           {"S >= 1 }", "expected ',' or the end of the guards"},
           {"S mod B == 0", "expected a divisor that is provably positive, found B"},
           {"$0 >= 1", "found"}}) {
    const auto guards = ir::parse_guards(p, text);
    REQUIRE_FALSE(guards);
    CAPTURE(guards.error().message);
    CHECK(guards.error().code == Code::invalid_argument);
    CHECK(guards.error().message.find(message) != std::string::npos);
    CHECK(guards.error().where.line == 1);
  }
  std::string deep = "S";
  for (int i = 0; i < 3000; ++i) deep = "max(" + deep;
  CHECK_FALSE(ir::parse_guards(p, deep + " >= 0"));
}

TEST_CASE("a choice of another program, or of a config that is not legal, cannot be used") {
  const ir::Program p = program();
  const auto legal = [](const std::string& config) -> Status {
    if (config == "good") return {};
    return invalid_argument("expected good, found " + config);
  };
  CHECK(check_choice(p, testing::choice("S >= 8", "good"), legal));
  CHECK(check_choice(p, testing::choice("S >= 8", "bad"), legal).error().message == "expected good, found bad");
  CHECK_FALSE(check_choice(p, testing::choice("T >= 8", "good"), legal));
  const auto twice = ProgramChoices::create(p, {testing::choice("S >= 8", "a"), testing::choice("S >= 8", "b")}, "d");
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message == "expected regions that differ, found 'S >= 8' twice");
  const auto unknown = ProgramChoices::create(p, {testing::choice("T >= 8", "a")}, "d");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().context == std::vector<std::string>{"in region 'T >= 8'"});
}

/// A choice of a regime.
Choice of(std::optional<Regime> regime, std::string region, std::string config) {
  Choice made = testing::choice(std::move(region), std::move(config));
  made.regime = regime;
  return made;
}

/// Returns the choice that serves rows of S elements. 8 bytes of a row are 16 bytes of tensors; the cache has 16000
/// bytes.
std::string served(const std::vector<Choice>& list, std::int64_t s, std::int64_t cache_bytes = 16'000) {
  const ir::Program p = program();
  const auto choices = ProgramChoices::of_served(p, serving(p, list, cache_bytes), "default");
  REQUIRE_MESSAGE(choices, (choices ? "" : choices.error().to_string()));
  const std::string chosen = choose(p, *choices, 1, s);
  return chosen.substr(0, chosen.find(' '));
}

TEST_CASE("of several regimes of a region, the one that the tensors' bytes say serves") {
  const std::vector<Choice> all = {of(Regime::cold, "S >= 8", "cold"), of(Regime::both, "S >= 8", "both"),
                                   of(Regime::warm, "S >= 8", "warm")};
  CHECK(served(all, 900) == "warm");   // 7204 bytes of tensors, of at most 8000
  CHECK(served(all, 1000) == "both");  // 8004
  CHECK(served(all, 3999) == "both");  // 31996, of at most 32000
  CHECK(served(all, 4000) == "cold");  // 32004
  CHECK(served(all, 7) == "default");
}

TEST_CASE("a regime that was asked for serves where no other does, and one of both before it") {
  CHECK(served({of(Regime::cold, "", "cold")}, 900) == "cold");
  CHECK(served({of(Regime::cold, "", "cold"), of(Regime::both, "", "both")}, 900) == "both");
  CHECK(served({of(Regime::cold, "", "cold"), of(Regime::warm, "", "warm")}, 900) == "warm");
}

TEST_CASE("a record of an earlier version is cold, and serves no other tensors") {
  const std::vector<Choice> old = {of(std::nullopt, "", "old")};
  CHECK(served(old, 900) == "default");
  CHECK(served(old, 1000) == "default");
  CHECK(served(old, 4000) == "old");
  const ir::Program p = program();
  CHECK(choose(p, *ProgramChoices::of_served(p, serving(p, old, 16'000), "default"), 1, 900) ==
        "default | no tuned region holds these sizes (what an earlier version measured is of tensors in no cache): the "
        "default config");
  // If the cache size is unknown, as for a GPU's pack, it serves as before.
  CHECK(served(old, 900, 0) == "old");
}

TEST_CASE("a region that says its bytes is not told twice, and its regime stands in the reason") {
  const ir::Program p = program();
  const std::string bytes = *tensor_bytes_text(p);
  const std::string region = bytes + " <= 8000";
  const auto list = serving(p, {of(Regime::warm, region, "warm")}, 16'000);
  REQUIRE(list.size() == 1);
  CHECK(list.front().sizes == region);
  const auto choices = ProgramChoices::of_served(p, list, "default");
  REQUIRE(choices);
  CHECK(choose(p, *choices, 1, 9) == "warm | tuned for " + region + " (warm)");
}

}  // namespace
}  // namespace padlock::tuner
