#include "compiler/schedule/model/turn.h"

namespace padlock::compiler {
namespace {

enum VariableOrder { kStorage = 1400 };  // after the variables of row chunks and their proof

/// Returns lanes that alternate between parts of two vectors: within each block, its first or its second half.
std::vector<int> in_turn(int lanes, int block, int part, bool second_half) {
  std::vector<int> taken;
  for (int lane = 0; lane < lanes; ++lane) {
    const int in_block = lane % block / part;
    const int from = lane - lane % block + (second_half ? block / 2 : 0) + in_block / 2 * part + lane % part;
    taken.push_back(in_block % 2 == 0 ? from : lanes + from);
  }
  return taken;
}

}  // namespace

TurnVariables::TurnVariables(ir::ExprContext& exprs) : storage(exprs.variable("storage_of_blocks", kStorage)) {}

std::vector<std::vector<ShuffledLane>> shuffled_lanes(int vectors, int lanes, const std::vector<Shuffle>& shuffles) {
  std::vector<std::vector<ShuffledLane>> made(static_cast<std::size_t>(vectors));
  for (int vector = 0; vector < vectors; ++vector)
    for (int lane = 0; lane < lanes; ++lane) made[static_cast<std::size_t>(vector)].push_back({vector, lane});
  for (const Shuffle& shuffle : shuffles) {
    std::vector<ShuffledLane> both = made[static_cast<std::size_t>(shuffle.first)];
    const std::vector<ShuffledLane>& second = made[static_cast<std::size_t>(shuffle.second)];
    both.insert(both.end(), second.begin(), second.end());
    std::vector<ShuffledLane> result;
    for (const int lane : shuffle.lanes) result.push_back(both[static_cast<std::size_t>(lane)]);
    made.push_back(std::move(result));
  }
  return made;
}

/// Each level interleaves lanes of a vector of the first half and of one of the second half, as a shuffle of cards.
void add_block_transpose(std::vector<Shuffle>& shuffles, std::vector<int> vectors, int lanes, int block, int part) {
  const std::size_t half = vectors.size() / 2;
  int next_result = vectors.back() + 1;
  for (std::size_t level = vectors.size(); level > 1; level /= 2) {
    std::vector<int> next;
    for (std::size_t i = 0; i < half; ++i)
      for (const bool second_half : {false, true}) {
        shuffles.push_back({vectors[i], vectors[i + half], in_turn(lanes, block, part, second_half)});
        next.push_back(next_result++);
      }
    vectors = std::move(next);
  }
}

}  // namespace padlock::compiler
