#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/messages/suggestion.h"
#include "support/split_mix.h"

using namespace padlock;

namespace {

constexpr std::array<std::string_view, 6> kNames = {"pad", "slice", "symmetric", "relu", "lo", "B"};

/// The definition, without a table: exponential.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  std::size_t best = slow_distance(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1);
  best = std::min(best, slow_distance(a.substr(1), b) + 1);
  best = std::min(best, slow_distance(a, b.substr(1)) + 1);
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  return best;
}

}  // namespace

TEST_CASE("the distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("pad", "pad") == 0);
  CHECK(edit_distance("pod", "pad") == 1);
  CHECK(edit_distance("pda", "pad") == 1);
  CHECK(edit_distance("", "pad") == 3);
  CHECK(edit_distance("refelct", "reflect") == 1);
  SplitMix random{7};
  for (int round = 0; round < 300; ++round) {
    std::string a, b;
    for (std::uint64_t n = random.next() % 6; n > 0; --n) a += static_cast<char>('a' + random.next() % 3);
    for (std::uint64_t n = random.next() % 6; n > 0; --n) b += static_cast<char>('a' + random.next() % 3);
    INFO(a << " " << b);
    CHECK(edit_distance(a, b) == slow_distance(a, b));
    CHECK(edit_distance(a, b) == edit_distance(b, a));
  }
}

TEST_CASE("a name that is almost one of the candidates gets it suggested") {
  CHECK(did_you_mean("pod", kNames) == "; did you mean 'pad'?");
  CHECK(did_you_mean("PAD", kNames) == "; did you mean 'pad'?");
  CHECK(did_you_mean("b", kNames) == "; did you mean 'B'?");
  CHECK(did_you_mean("low", kNames) == "; did you mean 'lo'?");
  CHECK(did_you_mean("symetrik", kNames) == "; did you mean 'symmetric'?");
  CHECK(did_you_mean("sym", kNames) == "; did you mean 'symmetric'?");
}

TEST_CASE("a name that is like none gets nothing suggested") {
  CHECK(did_you_mean("conv", kNames).empty());
  CHECK(did_you_mean("x", kNames).empty());
  CHECK(did_you_mean("", kNames).empty());
  CHECK(did_you_mean("pad", std::array<std::string_view, 1>{"pad"}).empty());
  CHECK(did_you_mean("rel", std::vector<std::string>{"release", "relative"}).empty());
  CHECK(did_you_mean(std::string(5000, 'a'), std::vector<std::string>{std::string(5001, 'a')}).empty());
}
