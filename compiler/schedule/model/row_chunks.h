#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"

// Row chunks take short rows, or small planes of short rows: a unit is a row or a plane, and a chunk some whole units.
// The source of each lane is the same in all chunks, so it is planned when sizes are bound. A vector's lanes are filled
// in order, as long as each load's elements for them lie in one window of as many elements as the vector has lanes.
// One description serves the code and the proof, in Exprs over the variables of a chunk.
namespace padlock::compiler {

/// The variables of a chunk, in elements. Each lies in [0, 2^47]; but `window` may be negative at the end of a loop.
struct RowChunkVariables {
  explicit RowChunkVariables(ir::ExprContext& exprs);
  ir::Expr elements;  ///< of the output, from the first unit to the end of the task
  ir::Expr chunk;     ///< from the first unit to the chunk's first unit
  ir::Expr size;      ///< of a chunk: whole units
  ir::Expr last;      ///< from the chunk's first element to the beginning of its last vector
  ir::Expr window;    ///< of a tensor: beginning of the chunk's first window
  ir::Expr spread;    ///< from the beginning of the first window to that of the last
  ir::Expr storage;   ///< of the tensor
  ir::Expr filled;    ///< lanes planned so far of a vector
  ir::Expr span;      ///< from the first to the last element that a load needs for the filled lanes and the next one
};

/// for (chunk = 0; units are left, chunk <= limit and, in each tensor, window_least <= window <= window_limit; chunk =
/// next): stores the chunk's vectors in order, all lanes of each. Lanes past the vector's part of the chunk, past the
/// chunk or past the units are stored again: by a later vector, a later chunk, or what the task takes after the units.
/// A chunk that fails the conditions ends before its first vector that fails them, with that vector's `last` and
/// `spread`.
struct RowChunkLoop {
  int lanes = 0;                 ///< elements of a vector, and of a window
  int joined = 1;                ///< vectors permuted and stored as one if all vectors of a chunk are full
  int longest_row = 0;           ///< elements of the longest row taken by chunks
  int longest_unit = 0;          ///< of the longest unit
  std::int64_t least_bytes = 0;  ///< of a launch's results; for fewer, planning costs more than it saves
  int narrowest = 1;             ///< bytes of an element of the results
  /// Chunks of full vectors may be stored past the caches, a whole line after the other. The code tests that each such
  /// chunk begins at a line.
  bool streams = false;
  /// A chunk has as many units as make whole cache lines of a result, and at least `least_elements`, if that is at most
  /// `most_line_elements`; if it is streamed, `most_streamed_elements`. Else it has the fewest units with
  /// `least_elements`. (Proofs do not depend on this choice.)
  int least_elements = 0, most_line_elements = 0, most_streamed_elements = 0;
  ir::Expr unit;          ///< elements of a unit
  ir::Expr vectors;       ///< room of a plan; 0 for sizes not taken by chunks
  ir::Expr limit;         ///< over `elements` and `last`
  ir::Expr next;          ///< over `chunk` and `size`
  ir::Expr window_least;  ///< over `storage` and `spread`
  ir::Expr window_limit;
  /// A vector takes one more lane while `filled` <= filled_limit and, for each load, `span` <= span_limit.
  ir::Expr filled_limit, span_limit;
};

/// Makes the parts that do not depend on sizes.
[[nodiscard]] RowChunkLoop make_row_chunk_loop(ir::ExprContext& exprs, int lanes);

/// The offset of a load in a unit: the sum of one over the unit's outer coordinates and one over the column.
struct UnitOffset {
  ir::Expr row, column;
};

/// Short rows or small planes that the host takes several at a time (compiler/schedule/host/row_chunks.cpp).
struct RowChunks {
  int axes = 1;  ///< of a unit, the innermost ones
  /// A whole unit. Each condition is on the column alone or on the unit's other coordinates. Load i's element is its
  /// source's `base`, over coordinates outside the unit, plus its `offset`, over the unit's coordinates.
  Body body;
  std::vector<LoadSource> sources;  ///< `step`: from a unit to the next
  std::vector<UnitOffset> offsets;
  /// On coordinates outside the unit. Chunks take units for which it holds, and `body` relies on it. Rows of other
  /// units go one by one.
  PredicateId holds = kAlways;
  /// Units along the unit axis, from one for which `holds` holds, for which it goes on to hold. Over coordinates
  /// outside the unit.
  ir::Expr alike;
  RowChunkLoop loop;

  /// Returns the axis along which units follow each other.
  [[nodiscard]] int unit_axis(const Kernel& kernel) const { return kernel.rank() - 1 - axes; }
  /// Returns the outer axes of a unit.
  [[nodiscard]] std::vector<int> row_axes(const Kernel& kernel) const;
  /// Returns the rows of a unit.
  [[nodiscard]] ir::Expr rows(const Kernel& kernel) const;
};

/// Chooses the sizes taken by chunks, and the room of a plan.
void choose_room(const Kernel& kernel, RowChunks& chunks);

}  // namespace padlock::compiler
