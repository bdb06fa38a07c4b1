#include "compiler/schedule/model/tiles.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// After the other variables of a tile (compiler/schedule/gpu/tiles.cpp), below the variables of a run.
enum VariableOrder {
  kSlot = 970,
  kRound,
  kVector,
  kVectorGroup,
  kRowGroup,
  kRowOfGroup,
  kRow,
  kColumn,
  kPhase,
  kSquare,
  kLine
};

/// A block of more threads has at most 64 registers a thread, which a tile of bytes spills.
constexpr int kFewestThreads = 128, kMostThreads = 512;
/// The code has one bit for each round of loads: in a round every thread loads a block.
static_assert(kTileWords * (kHaloWords + 2 * kTileWords) <= 32 * kFewestThreads);

/// Sets the position of each slot, and its place in shared memory.
void place_slots(ir::ExprContext& exprs, TileGeometry& tile) {
  const Expr columns = exprs.constant(tile.stored_columns());
  const Expr lanes = exprs.constant(tile.lanes);
  const Expr words = exprs.constant(kTileWords);
  const Expr halo = exprs.constant(tile.halo());
  tile.stored_row = exprs.floordiv(tile.slot, columns);
  const Expr first = exprs.sub(halo, tile.phase);  // first column of a stored row
  tile.stored_column = exprs.add(first, exprs.mod(tile.slot, columns));
  const auto line_at = [&](Expr plane, Expr line) {
    return exprs.add(exprs.mul(exprs.constant(tile.plane_words()), plane),
                     exprs.mul(exprs.constant(tile.pitch()), line));
  };
  const Expr group = exprs.floordiv(tile.row, halo);  // of eight lines
  tile.word = exprs.add(line_at(exprs.mod(tile.row, lanes), exprs.floordiv(tile.row, lanes)),
                        exprs.add(group, exprs.floordiv(tile.column, lanes)));
  tile.lane = exprs.mod(tile.column, lanes);
  const Expr block_row = exprs.mod(tile.square, words);
  const Expr block_column = exprs.floordiv(tile.square, words);
  const Expr block_group = exprs.floordiv(block_row, exprs.constant(kHaloWords));
  tile.square_row = exprs.mul(lanes, block_row);
  tile.square_column = exprs.mul(lanes, block_column);
  tile.loaded_row = exprs.add(tile.square_row, exprs.mod(tile.slot, lanes));
  tile.loaded_column = exprs.add(tile.square_column, exprs.floordiv(tile.slot, lanes));
  tile.square_word = exprs.add(line_at(tile.line, block_row), exprs.add(block_group, block_column));
}

/// Sets the vectors that each thread stores.
void place_vectors(ir::ExprContext& exprs, TileGeometry& tile) {
  constexpr int kGroups = kTileWords / kHaloWords;
  const int together = std::min(8, tile.row_vectors());
  const int rows = std::min(tile.halo(), tile.threads / (kGroups * tile.row_vectors()));  // stored in a round
  const Expr of_eight = exprs.variable("vector", kVector);
  const Expr eight = exprs.variable("vector_group", kVectorGroup);
  const Expr group = exprs.variable("row_group", kRowGroup);
  const Expr of_group = exprs.variable("row_of_group", kRowOfGroup);
  tile.copied_digits = {{of_eight, exprs.constant(together)},
                        {group, exprs.constant(kGroups)},
                        {eight, exprs.constant(tile.row_vectors() / together)},
                        {of_group, exprs.constant(rows)}};
  const auto scaled = [&](int by, Expr e) { return exprs.mul(exprs.constant(by), e); };
  const Expr lanes = exprs.constant(tile.lanes);
  const Expr vector = exprs.add(of_eight, scaled(together, eight));
  const Expr row = exprs.add(of_group, scaled(rows, tile.round));
  const Expr first = exprs.sub(exprs.constant(tile.halo()), tile.phase);
  tile.copied_row = exprs.add(scaled(tile.halo(), group), row);
  tile.copied_column = exprs.add(first, scaled(tile.vector_elements(), vector));
  const Expr line =
      exprs.add(scaled(tile.plane_words(), exprs.mod(row, lanes)), scaled(tile.pitch(), exprs.floordiv(row, lanes)));
  const Expr in_line = exprs.add(exprs.floordiv(first, lanes), scaled(tile.vector_words(), vector));
  tile.copied_word = exprs.add(exprs.add(line, scaled(kHaloWords * tile.pitch() + 1, group)), in_line);
  tile.copied_lane = exprs.mod(first, lanes);
}

}  // namespace

/// Each of 256 threads has eight words, or 16 of bytes: fewer leave too few loads on their way. (On an H200, aligned,
/// 256 MiB, by hand: f32 0.85 of a copy with four words a thread and 0.95 with eight; f16 0.76 and 0.93; i8 0.90 with
/// eight and 0.94 with 16.) A multiprocessor has few tiles of a small output, and would do their steps one after the
/// other. So tiles of small outputs are smaller, and have more threads. (Misaligned i8, 1 MiB, by hand: 0.13 to 0.6 of
/// a copy with large tiles, 0.88 with 16 words and 512 threads.)
TileShape tile_shape(TileSize size, int widest, int threads, bool has_one_result) {
  TileShape shape{.threads = std::max(kFewestThreads, threads),
                  .lanes = std::max(1, 4 / widest),
                  .word_bytes = std::max(4, widest)};
  const bool is_element = widest == 4;
  const bool is_large = size == TileSize::large || size == TileSize::by_output;
  if (size == TileSize::small) shape.threads = std::min(kMostThreads, 2 * shape.threads);
  if (!is_large && !is_element) shape.column_words /= 2;
  // Words of one element make small tiles; the halo would be a fifth of them. (Misaligned f32, 64 MiB, by hand: 0.71 of
  // a copy, and 0.89 with twice the columns. Bytes and halves have larger tiles, and lose by it.)
  if (is_large && is_element && has_one_result) shape.column_words *= 2;
  return shape;
}

std::vector<TileShape> tile_shapes() {
  std::vector<TileShape> all;
  for (const TileSize size : {TileSize::large, TileSize::medium, TileSize::small})
    for (const int widest : {1, 2, 4, 8})
      for (const int threads : {64, 128, 256, 512})
        for (const bool has_one_result : {true, false}) {
          const TileShape shape = tile_shape(size, widest, threads, has_one_result);
          if (std::ranges::find(all, shape) == all.end()) all.push_back(shape);
        }
  return all;
}

TileGeometry tile_geometry(ir::ExprContext& exprs, const TileShape& shape) {
  TileGeometry tile;
  static_cast<TileShape&>(tile) = shape;
  tile.slot = exprs.variable("position", kSlot);
  tile.round = exprs.variable("round", kRound);
  tile.row = exprs.variable("tile_row", kRow);
  tile.column = exprs.variable("tile_column", kColumn);
  tile.phase = exprs.variable("phase", kPhase);
  tile.square = exprs.variable("tile_square", kSquare);
  tile.line = exprs.variable("line", kLine);
  place_slots(exprs, tile);
  place_vectors(exprs, tile);
  return tile;
}

}  // namespace padlock::compiler
