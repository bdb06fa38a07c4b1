#pragma once

#include <cstddef>
#include <string_view>

// The kernel that compares memory of a GPU where it lies: what tuning compares results with their reference by.
namespace padlock::abi {

inline constexpr std::string_view kComparisonName = "padlock_comparison";
/// Threads of a block.
inline constexpr int kComparisonThreads = 256;

/// The kernel's parameters, all of them 64-bit words: their indices, and their number last. Of the first byte that
/// differs, byte i among `bytes`, it leaves the number first + i where `found` was larger.
enum class ComparisonWord : std::size_t {
  actual,    ///< address of what is compared
  expected,  ///< address of what it has to be; 0: it has to be the pattern
  pattern,   ///< eight equal bytes
  bytes,
  first,
  threads,  ///< of the launch
  found,    ///< address of a word of 64 bits
  count,
};

}  // namespace padlock::abi
