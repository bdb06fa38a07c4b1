#include "compiler/schedule/host/interleave.h"

#include <bit>
#include <numeric>
#include <utility>

namespace padlock::compiler {

namespace {

/// Puts each block's part of the first vector of rows into its first lanes, of the second into the next, and so on:
/// so that lanes taken in turn within blocks follow each other.
std::vector<int> spread_over_blocks(int columns, int lanes, int block) {
  const int part = block / columns;
  std::vector<int> taken(static_cast<std::size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    const int vector = lane % block / part;
    taken[static_cast<std::size_t>(lane)] = vector * (lanes / columns) + lane / block * part + lane % part;
  }
  return taken;
}

}  // namespace

std::optional<std::vector<Shuffle>> interleave(int columns, int lanes, int element_bytes, bool any_two) {
  if (columns < 2 || lanes % 2 != 0 || !std::has_single_bit(static_cast<unsigned>(columns))) return std::nullopt;
  std::vector<Shuffle> made;
  std::vector<int> vectors(static_cast<std::size_t>(columns));
  std::iota(vectors.begin(), vectors.end(), 0);
  const auto add = [&](int first, int second, std::vector<int> taken) {
    made.push_back({first, second, std::move(taken)});
    return columns + static_cast<int>(made.size()) - 1;
  };
  // Spreading comes with the load: of two columns it costs less than the copies and the constants of instructions that
  // take any lanes of two vectors (0.95 of the time on a Xeon).
  const bool in_blocks = lanes * element_bytes > kBlockBytes && (!any_two || columns == 2);
  int block = lanes;
  if (in_blocks) {
    block = kBlockBytes / element_bytes;
    if (block < columns) return std::nullopt;
    for (int& vector : vectors) vector = add(vector, vector, spread_over_blocks(columns, lanes, block));
  }
  add_block_transpose(made, std::move(vectors), lanes, block, /*part=*/1);
  return made;
}

}  // namespace padlock::compiler
