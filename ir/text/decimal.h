#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace padlock::ir {

/// An unsigned decimal in exact scientific form: 0.d1d2d3... * 10^exponent with d1 and the last digit not 0; no digits
/// for zero. Internal to literals.
struct Decimal {
  std::string digits;
  long long exponent = 0;  ///< saturates far outside every float type's range
};

/// Reads [0-9]+ ["." [0-9]+] [[eE] [+-]? [0-9]+] as a whole; nullopt if the text is something else.
[[nodiscard]] std::optional<Decimal> parse_decimal(std::string_view text);

/// Returns the exact value of a finite double >= 0.
[[nodiscard]] Decimal exact_decimal(double value);

/// Returns -1, 0 or 1 as a is below, equal to or above b.
[[nodiscard]] int compare(const Decimal& a, const Decimal& b);

}  // namespace padlock::ir
