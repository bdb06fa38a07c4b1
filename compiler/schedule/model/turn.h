#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/model/loop_strategy.h"

// How a run of several rows is taken whose loads lie next to each other from row to row, and far apart from column to
// column, as where axes are transposed: by boxes of some rows and columns. A load of a box is one block of its rows'
// elements for each column. Shuffles of two vectors within blocks make of them a vector of columns for each row.
namespace padlock::compiler {

/// Every instruction set shuffles two blocks of so many bytes; a wider vector is several, each shuffled by itself.
inline constexpr int kBlockBytes = 16;

/// A vector whose lane i is lane `lanes[i]` of two, the second's counted after the first's.
struct Shuffle {
  int first = 0, second = 0;  ///< of the loaded vectors, after which the earlier shuffles' results are counted
  std::vector<int> lanes = {};
};

/// What is in a lane: element `element` of loaded vector `vector`.
struct ShuffledLane {
  int vector = 0, element = 0;

  friend bool operator==(const ShuffledLane&, const ShuffledLane&) = default;
};

/// Returns what each lane has of the loaded vectors, and then of each shuffle's result.
[[nodiscard]] std::vector<std::vector<ShuffledLane>> shuffled_lanes(int vectors, int lanes,
                                                                    const std::vector<Shuffle>& shuffles);

/// Appends the shuffles that transpose within each block of `block` lanes, in parts of `part`: part i of block k of
/// vector j, of those numbered `vectors`, as many as a block has parts, becomes part j of block k of vector i of the
/// last as many results.
void add_block_transpose(std::vector<Shuffle>& shuffles, std::vector<int> vectors, int lanes, int block, int part);

/// For a number n of elements that each of several has in a block: number n - 1 says which byte of a block each byte of
/// the regrouped one is.
using BlockBytes = std::vector<std::vector<int>>;

/// A load of a box. A block holds the elements of so many `rows` in `columns` columns: those that follow each other in
/// memory, as they do (one column), or grouped by row. Vector i has the blocks that begin with columns i * columns + k
/// * (rows * columns), for each k. The last `rows` shuffles' results are the rows' vectors.
struct TurnedLoad {
  int load = 0;  ///< of the body
  int rows = 0, columns = 1;
  BlockBytes grouped = {};  ///< where it has several columns, for the elements from one to the next
  std::vector<Shuffle> shuffles = {};
  ir::Expr last_block = {};  ///< over TurnVariables: the last element with which a block may begin
};

struct TurnVariables {
  explicit TurnVariables(ir::ExprContext& exprs);
  ir::Expr storage;  ///< of a tensor, in elements
};

struct Turn {
  int rows = 0, lanes = 0;  ///< of a box: its columns are the lanes of a vector
  int line = 0;             ///< rows of which a cache line has an element each: so many are taken before later columns
  LoopStrategy along_rows;  ///< in its variables a run is the rows, from 0 on
  LoopStrategy along_columns;  ///< of a run, or of what is left of it without its end
  /// For a run of at most as many rows as a box has, all of them in one, which repeats the last where there are fewer.
  /// Blocks then hold what is past the rows. Those that begin `left_out` columns before the end of the run, or more,
  /// lie in the storage, since columns are in ascending order in memory.
  bool few_rows = false;
  int left_out = 0;
  std::vector<ir::Expr> tests = {};  ///< over symbols: each is >= 0, else there are no such boxes
  std::vector<TurnedLoad> loads;
};

/// How rows of few columns are taken that follow each other in the result, and whose columns are loaded from far apart:
/// each column is computed for as many rows as a vector has lanes. Shuffles within blocks then put the columns of a row
/// together, and the blocks are stored in order: what a block has beyond its rows is stored again by the next one.
struct Interleave {
  int columns = 0, lanes = 0;        ///< of a box, which repeats its last column; its rows are the lanes of a vector
  int block_rows = 1;                ///< that a block has
  LoopStrategy along_rows;           ///< in its variables a run is the rows without those left out, from 0 on
  std::vector<int> left_out = {};    ///< for each number of columns: rows at the end, into which blocks may reach
  std::vector<ir::Expr> tests = {};  ///< over symbols: each is >= 0, else there are no such boxes
  std::vector<int> loads;            ///< that go on from row to row; the others are the same in all rows
  /// Of the vectors of all columns: block k of result i has rows i * block_rows + k * (columns * block_rows) and so on,
  /// by column.
  std::vector<Shuffle> shuffles;
  BlockBytes grouped = {};  ///< into the order of rows, for the columns of a run
};

}  // namespace padlock::compiler
