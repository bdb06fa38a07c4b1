#include "ir/text/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace padlock::ir {
namespace {

// Beyond every exponent of a float type, and far enough from the limits of long long that sums cannot overflow.
constexpr long long kHugeExponent = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto length = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

/// Returns the value of a run of digits, at most kHugeExponent.
long long saturated(std::string_view digits) {
  long long value = 0;
  for (const char c : digits) value = std::min(kHugeExponent, value * 10 + (c - '0'));
  return value;
}

/// Returns the exponent part, 0 if there is none; nullopt if it is malformed.
std::optional<long long> take_exponent(std::string_view& text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  return negative ? -saturated(digits) : saturated(digits);
}

Decimal normalized(std::string digits, long long exponent) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  digits.resize(digits.find_last_not_of('0') + 1);
  digits.erase(0, first);
  return {std::move(digits), exponent - static_cast<long long>(first)};
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return std::nullopt;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  const auto exponent = take_exponent(text);
  if (!exponent || !text.empty()) return std::nullopt;
  return normalized(std::string(whole) + std::string(fraction), static_cast<long long>(whole.size()) + *exponent);
}

Decimal exact_decimal(double value) {
  // A double has at most 767 significant digits, so 800 of them are exact.
  std::array<char, 1024> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, 800);
  return parse_decimal({buffer.data(), end.ptr}).value_or(Decimal{});
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(b.digits.empty()) - static_cast<int>(a.digits.empty());
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace padlock::ir
