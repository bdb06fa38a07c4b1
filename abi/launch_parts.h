#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/int128.h"

// Cuts the rows of an output into launches, from the numbers that a kernel's LaunchParts have under one binding.
namespace padlock::abi {

/// Most launches that serve one binding. A kernel that needs more has rows of nearly the elements that one may take.
inline constexpr std::size_t kMostParts = 4096;

/// ReachSizes are the numbers of a Reach.
struct ReachSizes {
  std::uint32_t input = 0;
  std::vector<Int128> steps = {};  // elements, one for each outer axis
  Int128 least = 0, most = 0;
};

/// PartSizes are the numbers of LaunchParts (kernel_abi.h). Of the counts none is negative.
struct PartSizes {
  std::vector<std::int64_t> extents = {};
  std::int64_t columns = 0;
  std::vector<std::int64_t> spans = {};  // of each input
  std::vector<ReachSizes> reaches = {};  // of inputs that have a span, with a step for each extent
  std::int64_t most_elements = 0;
};

/// Rows [first_row, first_row + rows) of an output: one launch. It counts the elements of input i from origins[i] on,
/// the first that a reach of these rows has, or 0 where there is none.
struct RowRange {
  std::int64_t first_row = 0, rows = 0;
  std::vector<std::int64_t> origins;
};

/// Cuts all rows into ranges, in order, each of which writes at most `most_elements` and reads no element of an input
/// that lies so far from its origin. Rows are halved, at multiples of the rows that an index of the outermost axis has
/// that they differ in, as what they read is a slab of each input then. nullopt where a single row is too large, more
/// than kMostParts would be needed, or a number does not fit 128 bits.
[[nodiscard]] std::optional<std::vector<RowRange>> split_rows(const PartSizes& sizes);

/// Returns the blocks that write so many elements, which may begin anywhere within a vector of `lanes`. All are
/// positive, their sum fits 64 bits.
[[nodiscard]] std::int64_t block_count(std::int64_t elements, std::int64_t lanes, std::int64_t block_elements);

}  // namespace padlock::abi
