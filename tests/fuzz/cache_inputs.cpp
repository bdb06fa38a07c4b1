// Inputs for the body that reads records of a tuning cache.
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/mutate.h"
#include "tests/tuner/cache/samples.h"
#include "tuner/cache/record_text.h"

namespace padlock::fuzz {
namespace {

using padlock::testing::Rng;

constexpr std::array<std::string_view, 32> kWords = {"\"",
                                                     "\\",
                                                     "\\u0000",
                                                     "\\ud800",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "0",
                                                     "-1",
                                                     "1e400",
                                                     "9223372036854775808",
                                                     "18446744073709551615",
                                                     "null",
                                                     "\"kind\":\"choice\"",
                                                     "\"kind\":\"key\"",
                                                     "\"schema\":1",
                                                     "\"samples_ps\":[1]",
                                                     "\"verdict\":\"crash\"",
                                                     "\"regime\":\"both\"",
                                                     "\"ratios\":{\"noise_ppm\":{\"warm\":1},\"ppm\":{\"warm\":2}}",
                                                     "\n",
                                                     "S >= 8",
                                                     " mod ",
                                                     " floordiv ",
                                                     "max(B, S)",
                                                     "B * S * lo",
                                                     "(((((((",
                                                     "\xc3\xa9",
                                                     std::string_view("\0", 1)};
constexpr std::array<std::string_view, 5> kRegions = {"", "S >= 1024", "S * 4 mod 16 == 0, B <= 64",
                                                      "0 <= lo < S floordiv B", "max(B, S - 1) * lo == 0"};

/// A line without its hash.
std::string valid_line(Rng& rng) {
  using namespace tuner;
  const std::string region(rng.pick(kRegions));
  std::vector<Record> records = {
      record_of(tuner::testing::key()), record_of(tuner::testing::key(), tuner::testing::choice(region, "unroll=1")),
      record_of(tuner::testing::key(), tuner::testing::measurement(region, "unroll=1")),
      record_of(tuner::testing::key(), tuner::testing::failure("unroll=2", Verdict::timeout, "5 s"))};
  Choice warm = tuner::testing::choice(region, "unroll=4");
  warm.regime = Regime::warm;
  records.push_back(record_of(tuner::testing::key(), warm));
  Measurement raced = tuner::testing::measurement(region, "unroll=4");
  raced.regime = Regime::warm;
  raced.ratios = {.ppm = {{"warm", 900'000}}, .noise_ppm = {{"warm", 1000}}};
  records.push_back(record_of(tuner::testing::key(), raced));
  const std::string line = to_line(rng.pick(records));
  return line.substr(std::string_view(R"({"check":"0123456789abcdef",)").size());
}

}  // namespace

std::string make_input(Rng& rng) {
  if (rng.chance(20)) return mutate(std::string(rng.pick(kRegions)), std::string(rng.pick(kRegions)), kWords, rng);
  std::string line = valid_line(rng);
  return rng.chance(10) ? line : mutate(std::move(line), valid_line(rng), kWords, rng);
}

}  // namespace padlock::fuzz
