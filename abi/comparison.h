#pragma once

#include <cstddef>
#include <string_view>

// The kernel that compares memory of a GPU in place. Tuning compares results with their reference by it.
namespace padlock::abi {

inline constexpr std::string_view kComparisonName = "padlock_comparison";
/// Threads per block.
inline constexpr int kComparisonThreads = 256;

/// Indices of the kernel's parameters, all 64-bit words; the last enumerator is their number. At the first byte that
/// differs, byte i of `bytes`, the kernel writes first + i to `found` if the word there is larger.
enum class ComparisonWord : std::size_t {
  actual,    ///< address of the bytes to compare
  expected,  ///< address of the expected bytes; 0: the pattern is expected
  pattern,   ///< eight equal bytes
  bytes,
  first,
  threads,  ///< of the whole launch
  found,    ///< address of a 64-bit word
  count,
};

}  // namespace padlock::abi
