#pragma once

#include <cstdint>
#include <string>

#include "support/hash.h"

namespace padlock::tuner {

/// Shard is one of several equal parts of a tuning, for machines of one kind that share the work.
struct Shard {
  std::int64_t index = 0;  ///< below count
  std::int64_t count = 1;

  [[nodiscard]] bool is_valid() const { return 0 <= index && index < count; }
  /// Returns whether this shard has a region of a key (CacheKey::digest). Decided by their hash, independent of other
  /// programs and regions.
  [[nodiscard]] bool has(const std::string& key, const std::string& region) const {
    return checksum64(key + '\n' + region) % static_cast<std::uint64_t>(count) == static_cast<std::uint64_t>(index);
  }
};

}  // namespace padlock::tuner
