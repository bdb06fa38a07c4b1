#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/model/loop_strategy.h"

// Turns: how a run of several rows is made if its loads are adjacent from row to row and far apart from column to
// column, as in a transpose. A box has some rows and columns. It loads one block for each column: that column's
// elements of the rows. Shuffles of two vectors within blocks then make a vector of columns for each row.
namespace padlock::compiler {

/// Bytes of a block. Every instruction set shuffles two blocks of this size; a wider vector is several blocks, each
/// shuffled by itself.
inline constexpr int kBlockBytes = 16;

/// A vector whose lane i is lane `lanes[i]` of two vectors; the second's lanes count after the first's.
struct Shuffle {
  int first = 0, second = 0;  ///< indices of loaded vectors; results of earlier shuffles count after them
  std::vector<int> lanes = {};
};

/// Content of a lane: element `element` of loaded vector `vector`.
struct ShuffledLane {
  int vector = 0, element = 0;

  friend bool operator==(const ShuffledLane&, const ShuffledLane&) = default;
};

/// Returns the content of each lane of the loaded vectors, then of each shuffle's result.
[[nodiscard]] std::vector<std::vector<ShuffledLane>> shuffled_lanes(int vectors, int lanes,
                                                                    const std::vector<Shuffle>& shuffles);

/// Appends shuffles that transpose within each block of `block` lanes, in parts of `part` lanes. `vectors` has as many
/// numbers as a block has parts. Part i of block k of vector j becomes part j of block k of vector i of the last
/// results, which are as many.
void add_block_transpose(std::vector<Shuffle>& shuffles, std::vector<int> vectors, int lanes, int block, int part);

/// How a block is regrouped if each of several rows or columns has n elements in it. Entry n - 1 lists, for each byte
/// of the new block, the byte of the old.
using BlockBytes = std::vector<std::vector<int>>;

/// A load of a box. A block holds `rows` elements in each of `columns` columns, in memory order (one column) or grouped
/// by row. Vector i has the blocks that begin with columns i * columns + k * (rows * columns), for each k. The results
/// of the last `rows` shuffles are the rows' vectors.
struct TurnedLoad {
  int load = 0;  ///< of the body
  int rows = 0, columns = 1;
  BlockBytes grouped = {};  ///< for several columns: by the number of elements from one column to the next
  std::vector<Shuffle> shuffles = {};
  ir::Expr last_block = {};  ///< over TurnVariables: the last element at which a block may begin
};

struct TurnVariables {
  explicit TurnVariables(ir::ExprContext& exprs);
  ir::Expr storage;  ///< of a tensor, in elements
};

struct Turn {
  int rows = 0, lanes = 0;     ///< of a box: its columns are the lanes of a vector
  int line = 0;                ///< rows that have an element each in one cache line: all are taken before later columns
  LoopStrategy along_rows;     ///< its variables' run is the rows, from 0 on
  LoopStrategy along_columns;  ///< of a run, or of a run's remainder without its end
  /// For runs of at most as many rows as a box has: one box takes all rows, and repeats the last if there are fewer.
  /// Blocks then hold elements past the rows. Blocks that begin at least `left_out` columns before the end of the run
  /// lie in the storage, since columns ascend in memory.
  bool few_rows = false;
  int left_out = 0;
  std::vector<ir::Expr> tests = {};  ///< over symbols: boxes are used only if each is >= 0
  std::vector<TurnedLoad> loads;
};

/// How to make consecutive rows of few columns whose columns are loaded from far apart. Each column is computed for as
/// many rows as a vector has lanes. Shuffles within blocks put the columns of a row together. Blocks are stored in
/// order; what a block has beyond its rows is stored again by the next block.
struct Interleave {
  int columns = 0, lanes = 0;        ///< of a box, which repeats its last column; lanes are its rows
  int block_rows = 1;                ///< rows that a block has; if one, it may be wider than kBlockBytes
  LoopStrategy along_rows;           ///< its variables' run is the rows without those left out, from 0 on
  std::vector<int> left_out = {};    ///< for each number of columns: rows at the end into which blocks may reach
  std::vector<ir::Expr> tests = {};  ///< over symbols: boxes are used only if each is >= 0
  std::vector<int> loads;            ///< loads that advance from row to row; the others are the same in all rows
  /// Shuffles of all columns' vectors: block k of result i has rows from i * block_rows + k * (columns * block_rows)
  /// on, by column.
  std::vector<Shuffle> shuffles;
  BlockBytes grouped = {};  ///< regroups several rows into their order, by the columns of a run
};

}  // namespace padlock::compiler
