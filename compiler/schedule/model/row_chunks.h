#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"

// How short rows, or small planes of short rows, are taken: a unit is a row or a plane, and a chunk some whole units.
// What a chunk's vectors take from where is the same for all chunks, so it is planned when sizes are bound: a vector's
// lanes are filled in order while the elements that each load needs for them lie in one window of as many elements as
// it has lanes. One description serves the code and the proof, in Exprs over the variables of a chunk.
namespace padlock::compiler {

/// The variables of a chunk, in elements. Each lies in [0, 2^47] but `window`, which may be negative where a loop ends.
struct RowChunkVariables {
  explicit RowChunkVariables(ir::ExprContext& exprs);
  ir::Expr elements;  ///< of the output from the first of the units to the end of the task
  ir::Expr chunk;     ///< from the first of the units to the chunk's first
  ir::Expr size;      ///< of a chunk: whole units
  ir::Expr last;      ///< from a chunk's first to where its last vector begins
  ir::Expr window;    ///< of a tensor: where the first of a chunk's windows begins
  ir::Expr spread;    ///< from the first window to where the last begins
  ir::Expr storage;   ///< of the tensor
  ir::Expr filled;    ///< lanes that a vector has while it is planned
  ir::Expr span;      ///< from the first to the last element that a load needs for them, with the next lane's
};

/// for (chunk = 0; units are left, chunk <= limit and, in each tensor, window_least <= window <= window_limit; chunk =
/// next): the vectors of the chunk in order, each of which stores all of its lanes. Those past its part of the chunk,
/// past the chunk, and past the units are stored again, by a later vector, a later chunk, or what the task takes after
/// the units. The first chunk for which that does not hold ends before the first vector for which it does not, where
/// `last` and `spread` are that vector's.
struct RowChunkLoop {
  int lanes = 0;                 ///< elements of a vector, and of a window
  int joined = 1;                ///< vectors that are permuted and stored as one where all of a chunk are full
  int longest_row = 0;           ///< elements of the longest row that is taken so
  int longest_unit = 0;          ///< of the longest unit
  std::int64_t least_bytes = 0;  ///< of a launch's results; planning costs more than it saves where there are fewer
  int narrowest = 1;             ///< bytes of an element of the results
  /// A chunk has as many units as make whole cache lines of a result, and `least_elements` at least, where those are no
  /// more than `most_line_elements`; else the fewest that have `least_elements`. (What is proved does not depend on
  /// it.)
  int least_elements = 0, most_line_elements = 0;
  ir::Expr unit;          ///< elements of a unit
  ir::Expr vectors;       ///< that a plan has room for; 0 for sizes that are not taken so
  ir::Expr limit;         ///< over `elements` and `last`
  ir::Expr next;          ///< over `chunk` and `size`
  ir::Expr window_least;  ///< over `storage` and `spread`
  ir::Expr window_limit;
  /// A vector takes one more lane while `filled` <= filled_limit and, for each load, `span` <= span_limit.
  ir::Expr filled_limit, span_limit;
};

/// Makes what does not depend on sizes.
[[nodiscard]] RowChunkLoop make_row_chunk_loop(ir::ExprContext& exprs, int lanes);

/// The offset of a load in a unit, which is their sum: over the unit's outer coordinates, and over the column.
struct UnitOffset {
  ir::Expr row, column;
};

/// Short rows, or small planes, which the host takes several at a time (compiler/schedule/host/row_chunks.cpp).
struct RowChunks {
  int axes = 1;  ///< of a unit, the innermost ones
  /// A whole unit: each condition is of its column or of its other coordinates, and load i's element is `offset`, over
  /// the unit's coordinates, after its source's `base`, over the others.
  Body body;
  std::vector<LoadSource> sources;  ///< `step`: from a unit to the next
  std::vector<UnitOffset> offsets;
  RowChunkLoop loop;

  /// The axis along which units follow each other.
  [[nodiscard]] int unit_axis(const Kernel& kernel) const { return kernel.rank() - 1 - axes; }
  /// The outer axes of a unit.
  [[nodiscard]] std::vector<int> row_axes(const Kernel& kernel) const;
  /// Rows of a unit.
  [[nodiscard]] ir::Expr rows(const Kernel& kernel) const;
};

/// Chooses the sizes that are taken so, and the room of a plan.
void choose_room(const Kernel& kernel, RowChunks& chunks);

}  // namespace padlock::compiler
