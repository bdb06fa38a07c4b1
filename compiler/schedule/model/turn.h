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

/// Appends the shuffles that transpose within each block: block k of vector i, of those numbered `vectors`, as many as
/// a block has parts, becomes part i of block k of the last as many results.
void add_block_transpose(std::vector<Shuffle>& shuffles, std::vector<int> vectors, int lanes, int block);

/// A load of a box. Vector i has a block of each of columns i, i + rows, i + 2 * rows, ...; the last shuffles' results
/// are the rows' vectors.
struct TurnedLoad {
  int load = 0;  ///< of the body
  int rows = 0;  ///< that a block has: one element each
  std::vector<Shuffle> shuffles = {};
};

struct Turn {
  int rows = 0, lanes = 0;  ///< of a box: its columns are the lanes of a vector
  int line = 0;             ///< rows of which a cache line has an element each: so many are taken before later columns
  LoopStrategy along_rows;  ///< in its variables a run is the rows, from 0 on
  LoopStrategy along_columns;
  std::vector<TurnedLoad> loads;
};

}  // namespace padlock::compiler
