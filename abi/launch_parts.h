#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/int128.h"

// Splits the rows of an output into launches, from the values of a kernel's LaunchParts under one binding.
namespace padlock::abi {

/// Most launches of one binding. A kernel that needs more has rows of nearly as many elements as one launch may take.
inline constexpr std::size_t kMostParts = 4096;

/// The values of a Reach.
struct ReachSizes {
  std::uint32_t input = 0;
  std::vector<Int128> steps = {};  // in elements, one for each outer axis
  Int128 least = 0, most = 0;
};

/// The values of LaunchParts (kernel_abi.h). Counts are not negative.
struct PartSizes {
  std::vector<std::int64_t> extents = {};
  std::int64_t columns = 0;
  std::vector<std::int64_t> spans = {};  // for each input
  std::vector<ReachSizes> reaches = {};  // of inputs with a span; each has a step for each extent
  std::int64_t most_elements = 0;
};

/// Rows [first_row, first_row + rows) of an output: one launch. It counts the elements of input i from origins[i] on:
/// the first element of its reaches for these rows, or 0 if it has none.
struct RowRange {
  std::int64_t first_row = 0, rows = 0;
  std::vector<std::int64_t> origins;
};

/// Splits all rows into ranges, in order. Each writes at most `most_elements`, and reads no element as far from its
/// input's origin. Rows are halved along the outermost axis in which they differ, so that a range reads one slab of
/// each input. Returns nullopt if a single row is too large, if more than kMostParts would be needed, or if a number
/// does not fit in 128 bits.
[[nodiscard]] std::optional<std::vector<RowRange>> split_rows(const PartSizes& sizes);

/// Returns the number of blocks that write so many elements, which may begin anywhere within a vector of `lanes`. All
/// arguments are positive, and their sum fits in 64 bits.
[[nodiscard]] std::int64_t block_count(std::int64_t elements, std::int64_t lanes, std::int64_t block_elements);

}  // namespace padlock::abi
