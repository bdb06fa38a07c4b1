#include "support/hash.h"

#include <bit>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace padlock {

std::string hash128(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t checksum64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string hash64(std::string_view text) { return fmt::format("{:016x}", checksum64(text)); }

std::array<std::byte, 16> checksum128(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::bit_cast<std::array<std::byte, 16>>(canonical);
}

}  // namespace padlock
