#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace padlock {

// XXH3, as lower-case hexadecimal digits. It finds damage and tells programs apart; 128 bits exclude accidental
// collisions. It stops no forger, and need not: whoever can write a cache can write any record, and each record is
// checked before use.

[[nodiscard]] std::string hash128(std::string_view text);  ///< 32 digits
[[nodiscard]] std::string hash64(std::string_view text);   ///< 16 digits

/// Returns the bits that hash64 prints.
[[nodiscard]] std::uint64_t checksum64(std::string_view bytes);
/// Returns the bits that hash128 prints, as bytes, most significant first.
[[nodiscard]] std::array<std::byte, 16> checksum128(std::span<const std::byte> bytes);

}  // namespace padlock
