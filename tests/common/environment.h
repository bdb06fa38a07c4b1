#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

// Environment variables that control a run of the tests.
namespace padlock::testing {

/// Returns PADLOCK_SEED, else `fallback`. The test that uses it prints it.
inline std::uint64_t seed_or(std::uint64_t fallback) {
  const char* text = std::getenv("PADLOCK_SEED");
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
}

/// Returns whether PADLOCK_FULL=1 asks for tests that take minutes.
inline bool is_full_run() {
  const char* text = std::getenv("PADLOCK_FULL");
  return text != nullptr && std::string_view(text) == "1";
}

/// Says whether an emulator runs the tests (PADLOCK_EMULATED=1, as ./dev test --preset=aarch64 sets it), which does not
/// do all that a system does.
inline bool is_emulated() {
  const char* text = std::getenv("PADLOCK_EMULATED");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace padlock::testing
