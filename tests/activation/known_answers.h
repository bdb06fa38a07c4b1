#pragma once

#include <array>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "ir/operation.h"
#include "support/error.h"

// Hashes of right results, for devices without the time or library to judge all floats. known_answers.txt has one hash
// for each activation and each 2^24 arguments, in the order of their bits.
namespace padlock::activation {

inline constexpr std::size_t kBlocks = 256;
inline constexpr std::size_t kBlockBits = 24;

using BlockHashes = std::array<std::uint64_t, kBlocks>;

/// Returns XXH3 of the bits of results, every NaN as 0x7fc00000.
[[nodiscard]] std::uint64_t hash_of(const std::vector<std::uint32_t>& results);

/// `name` stands in messages for the file. Error: invalid_argument without lines, for a malformed line, or for a
/// function that lacks hashes.
[[nodiscard]] Result<std::map<ir::Op, BlockHashes>> read_known_answers(std::istream& lines, const std::string& name);
/// Returns the lines of one function, as in the file.
[[nodiscard]] std::string to_text(ir::Op op, const BlockHashes& hashes);

/// Reads arguments whose results are hard to round, by function: hard_arguments.txt. Error: as read_known_answers.
[[nodiscard]] Result<std::map<ir::Op, std::vector<std::uint32_t>>> read_hard_arguments(std::istream& lines,
                                                                                       const std::string& name);

}  // namespace padlock::activation
