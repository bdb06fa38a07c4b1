#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/pack_sample.h"

namespace padlock::fuzz {
namespace {

using testing::Rng;
using namespace std::string_view_literals;

/// Numbers as metadata has them (0, -1, 1, 64, 2^62, 2^127 - 1, one without an end), node kinds, words.
constexpr std::array kWords = {"\x00"sv,
                               "\x01"sv,
                               "\x02"sv,
                               "\x80\x01"sv,
                               "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv,
                               "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03"sv,
                               "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03"sv,
                               "\xff\xff\xff\xff"sv,
                               "\x08"sv,
                               "\x0a"sv,
                               "S >= 1"sv,
                               " floordiv "sv,
                               "host"sv,
                               "sm_90"sv,
                               "sse2"sv,
                               "unroll=2"sv};

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One to four bytes, anywhere: finer than mutate, which thinks in words.
std::string change_bytes(std::string text, Rng& rng) {
  for (std::int64_t left = rng.between(1, 4); left > 0 && !text.empty(); --left)
    rng.pick(text) = static_cast<char>(rng.between(0, 255));
  return text;
}

std::string spoil(std::string text, Rng& rng) {
  if (rng.chance(50)) return change_bytes(std::move(text), rng);
  const std::string other = text;
  return mutate(std::move(text), other, kWords, rng);
}

}  // namespace

std::string make_input(Rng& rng) {
  if (rng.chance(15)) return "*" + spoil(text_of(sample_pack()), rng);
  if (rng.chance(2)) return "*" + text_of(sample_pack());
  return "m" + spoil(text_of(sample_metadata()), rng);
}

}  // namespace padlock::fuzz
