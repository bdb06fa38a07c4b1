#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace padlock::differential {

/// PADLOCK_SEED of the environment, else `fallback`.
inline std::uint64_t seed_from_environment(std::uint64_t fallback) {
  const char* text = std::getenv("PADLOCK_SEED");
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
}

}  // namespace padlock::differential
