#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace padlock::fuzz {
namespace {

using testing::Rng;

constexpr std::size_t kLongest = 64 * 1024;

std::size_t position(const std::string& text, Rng& rng) {
  return static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(text.size())));
}

/// A piece of at most `longest` characters.
std::string_view piece(std::string_view text, std::size_t longest, Rng& rng) {
  const auto first = static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(text.size())));
  return text.substr(first, static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(longest))));
}

void change_byte(std::string& text, Rng& rng) {
  if (text.empty()) return;
  char& c = rng.pick(text);
  c = rng.chance(50) ? static_cast<char>(rng.next()) : static_cast<char>(c ^ (1 << rng.between(0, 7)));
}

void remove_piece(std::string& text, Rng& rng) {
  text.erase(position(text, rng), static_cast<std::size_t>(rng.between(1, rng.chance(80) ? 4 : 200)));
}

/// Digits somewhere become a number at the end of some range.
void replace_number(std::string& text, Rng& rng) {
  static constexpr std::array kNumbers = {"0",
                                          "-1",
                                          "1",
                                          "2147483648",
                                          "4294967296",
                                          "4611686018427387904",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "18446744073709551616",
                                          "170141183460469231731687303715884105728",
                                          "99999999999999999999999999999999999999999999",
                                          "1e999",
                                          "00",
                                          "1099511627777"};
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) starts.push_back(i);
  if (starts.empty()) return;
  const std::size_t first = rng.pick(starts);
  std::size_t last = first;
  while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last])) != 0) ++last;
  text.replace(first, last - first, rng.pick(kNumbers));
}

/// What nests or repeats: "((((", a list of a thousand entries, a statement many times.
void repeat_piece(std::string& text, Rng& rng) {
  const std::string part(piece(text, rng.chance(70) ? 3 : 60, rng));
  const std::int64_t times = rng.chance(90) ? rng.between(2, 20) : rng.between(100, 5000);
  std::string repeated;
  for (std::int64_t i = 0; i < times && repeated.size() < kLongest / 2; ++i) repeated += part;
  text.insert(position(text, rng), repeated);
}

}  // namespace

std::string mutate(std::string text, std::string_view other, std::span<const std::string_view> dictionary, Rng& rng) {
  for (std::int64_t left = rng.between(1, 5); left > 0; --left) {
    switch (rng.between(0, 7)) {
      case 0:
        change_byte(text, rng);
        break;
      case 1:
        remove_piece(text, rng);
        break;
      case 2:
        replace_number(text, rng);
        break;
      case 3:
        repeat_piece(text, rng);
        break;
      case 4:
        text.insert(position(text, rng), piece(other, 80, rng));
        break;
      case 5:
        text.resize(position(text, rng));
        break;
      case 6:
        if (text.size() >= 2) std::swap(rng.pick(text), rng.pick(text));
        break;
      default:
        text.insert(position(text, rng), rng.pick(dictionary));
        break;
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

}  // namespace padlock::fuzz
