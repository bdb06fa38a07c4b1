#include "compiler/schedule/host/interleave.h"

#include <bit>
#include <numeric>

namespace padlock::compiler {

namespace {

// Bytes of a block. Every instruction set shuffles two blocks; a wider vector is several, each shuffled by itself.
constexpr int kBlockBytes = 16;

/// Takes lanes of both in turn: within each block, its first or its second half.
std::vector<int> in_turn(int lanes, int block, bool second_half) {
  std::vector<int> taken;
  for (int lane = 0; lane < lanes; ++lane) {
    const int in_block = lane % block;
    const int from = lane - in_block + (second_half ? block / 2 : 0) + in_block / 2;
    taken.push_back(in_block % 2 == 0 ? from : lanes + from);
  }
  return taken;
}

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
  // Each level takes lanes of a vector of the first half and of one of the second half in turn, as a shuffle of cards.
  const std::size_t half = vectors.size() / 2;
  for (int level = columns; level > 1; level /= 2) {
    std::vector<int> next;
    for (std::size_t i = 0; i < half; ++i)
      for (const bool second_half : {false, true})
        next.push_back(add(vectors[i], vectors[i + half], in_turn(lanes, block, second_half)));
    vectors = std::move(next);
  }
  return made;
}

}  // namespace padlock::compiler
