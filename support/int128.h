#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace padlock {

/// Sizes are computed in 128 bits, so that sums and products of 64-bit operands do not wrap.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

inline constexpr Int128 kInt64Min = std::numeric_limits<std::int64_t>::min();
inline constexpr Int128 kInt64Max = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] constexpr bool fits_int64(Int128 v) { return v >= kInt64Min && v <= kInt64Max; }

// Checked arithmetic: nullopt if the exact result does not fit.
template <class T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T r{};
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
template <class T>
[[nodiscard]] constexpr std::optional<T> checked_sub(T a, T b) {
  T r{};
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}
template <class T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  T r{};
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

/// Rounds to minus infinity. Precondition: b > 0.
template <class T>
[[nodiscard]] constexpr T floor_div(T a, T b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
/// Returns a mod b, in [0, b). Precondition: b > 0.
template <class T>
[[nodiscard]] constexpr T floor_mod(T a, T b) {
  const T r = a % b;
  return r < 0 ? r + b : r;
}

[[nodiscard]] std::string to_string(Int128 value);

}  // namespace padlock
