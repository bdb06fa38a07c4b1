#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/error.h"

// Structs that begin with their size, so that callers of any version can pass and receive them.
namespace padlock::capi {

/// Returns a caller's text, or `otherwise` for NULL.
[[nodiscard]] inline std::string_view text_or(const char* text, std::string_view otherwise) {
  return text != nullptr ? text : otherwise;
}

/// No struct is larger: a size beyond it was never set.
inline constexpr std::size_t kMostStructBytes = 4096;

/// Error: invalid_argument for an impossible `size` of struct `name`.
[[nodiscard]] inline Status check_struct_size(std::size_t size, const char* name) {
  if (size >= sizeof(std::size_t) && size <= kMostStructBytes) return {};
  return invalid_argument(std::string("expected ") + name + "'s struct_size to be its sizeof, found " +
                          std::to_string(size));
}

/// Copies the caller's options; members that an older header lacks are zero, and so are all for NULL. Error:
/// invalid_argument for an impossible size, or for an unknown member that is not zero.
template <class T>
[[nodiscard]] Result<T> read_options(const T* given, const char* name) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  T options;
  std::memset(static_cast<void*>(&options), 0, sizeof options);
  if (given != nullptr) {
    const std::size_t size = given->struct_size;
    PADLOCK_CHECK(check_struct_size(size, name));
    std::memcpy(static_cast<void*>(&options), given, std::min(size, sizeof options));
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    if (size > sizeof options &&
        std::any_of(bytes + sizeof options, bytes + size, [](unsigned char b) { return b != 0; }))
      return invalid_argument(std::string("expected ") + name + " as this version knows it, found more that is set");
  }
  options.struct_size = sizeof options;
  return options;
}

/// Fills in the members for which the caller's struct has room. Error: invalid_argument for NULL or an impossible size.
template <class T>
[[nodiscard]] Status write_struct(T* out, const T& value, const char* name) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (out == nullptr) return invalid_argument(std::string("expected a ") + name + ", found NULL");
  const std::size_t size = out->struct_size;
  PADLOCK_CHECK(check_struct_size(size, name));
  std::memcpy(static_cast<void*>(out), &value, std::min(size, sizeof value));
  out->struct_size = size;
  return {};
}

}  // namespace padlock::capi
