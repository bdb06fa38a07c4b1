#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace padlock::ir {

// The one table of element types: name in the language, bytes, and class.
#define PADLOCK_DTYPES(X)        \
  X(f64, "f64", 8, floating)     \
  X(f32, "f32", 4, floating)     \
  X(f16, "f16", 2, floating)     \
  X(bf16, "bf16", 2, floating)   \
  X(i64, "i64", 8, signed_int)   \
  X(i32, "i32", 4, signed_int)   \
  X(i16, "i16", 2, signed_int)   \
  X(i8, "i8", 1, signed_int)     \
  X(u64, "u64", 8, unsigned_int) \
  X(u32, "u32", 4, unsigned_int) \
  X(u16, "u16", 2, unsigned_int) \
  X(u8, "u8", 1, unsigned_int)   \
  X(boolean, "bool", 1, truth)

enum class DType : std::uint8_t {
#define X(id, name, bytes, kind) id,
  PADLOCK_DTYPES(X)
#undef X
};

enum class DTypeKind : std::uint8_t { floating, signed_int, unsigned_int, truth };

inline constexpr std::array kAllDTypes = {
#define X(id, name, bytes, kind) DType::id,
    PADLOCK_DTYPES(X)
#undef X
};

[[nodiscard]] constexpr std::string_view name_of(DType t) {
  constexpr std::array<std::string_view, kAllDTypes.size()> kNames = {
#define X(id, name, bytes, kind) name,
      PADLOCK_DTYPES(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(t)];
}

[[nodiscard]] constexpr int byte_size(DType t) {
  constexpr std::array<int, kAllDTypes.size()> kBytes = {
#define X(id, name, bytes, kind) bytes,
      PADLOCK_DTYPES(X)
#undef X
  };
  return kBytes[static_cast<std::size_t>(t)];
}
[[nodiscard]] constexpr int bit_width(DType t) { return 8 * byte_size(t); }

[[nodiscard]] constexpr DTypeKind kind_of(DType t) {
  constexpr std::array<DTypeKind, kAllDTypes.size()> kKinds = {
#define X(id, name, bytes, kind) DTypeKind::kind,
      PADLOCK_DTYPES(X)
#undef X
  };
  return kKinds[static_cast<std::size_t>(t)];
}
[[nodiscard]] constexpr bool is_float(DType t) { return kind_of(t) == DTypeKind::floating; }
[[nodiscard]] constexpr bool is_integer(DType t) {
  return kind_of(t) == DTypeKind::signed_int || kind_of(t) == DTypeKind::unsigned_int;
}
[[nodiscard]] constexpr bool is_signed(DType t) { return kind_of(t) == DTypeKind::signed_int; }

/// The type of that name in the language ("bool" for boolean).
[[nodiscard]] constexpr std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DType t : kAllDTypes)
    if (name_of(t) == name) return t;
  return std::nullopt;
}

}  // namespace padlock::ir
