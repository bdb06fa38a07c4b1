#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"

// How rows that are shorter than a vector are taken: in chunks of some whole rows, each of a few vectors. What a
// chunk's vectors take from where is the same for all chunks of a group of rows, so it is planned once a task: a
// vector's lanes are filled in order while the elements that each load needs for them lie in one window of as many
// elements as it has lanes. One description serves the code and the proof, in Exprs over the variables of a chunk.
namespace padlock::compiler {

/// The variables of a chunk, in elements. Each lies in [0, 2^47] but `window`, which may be negative where a loop ends.
struct RowChunkVariables {
  explicit RowChunkVariables(ir::ExprContext& exprs);
  ir::Expr elements;  ///< of the output from the first of the rows to the end of the task
  ir::Expr chunk;     ///< from the first of the rows to the chunk's first
  ir::Expr size;      ///< of a chunk: whole rows
  ir::Expr last;      ///< from a chunk's first to where its last vector begins
  ir::Expr window;    ///< of a tensor: where the first of a chunk's windows begins
  ir::Expr spread;    ///< from the first window to where the last begins
  ir::Expr storage;   ///< of the tensor
  ir::Expr filled;    ///< lanes that a vector has while it is planned
  ir::Expr span;      ///< from the first to the last element that a load needs for them, with the next lane's
};

/// for (chunk = 0; rows are left, chunk <= limit and, in each tensor, window_least <= window <= window_limit; chunk =
/// next): the vectors of the chunk in order, each of which stores all of its lanes. Those past its part of the chunk,
/// past the chunk, and past the rows are stored again, by a later vector, a later chunk, or what the task takes after
/// the rows.
struct RowChunkLoop {
  int lanes = 0;                 ///< elements of a vector, and of a window
  int vectors = 0;               ///< of a chunk
  int longest_row = 0;           ///< elements of the longest row that is taken so
  std::int64_t least_bytes = 0;  ///< of a task's results; planning costs more than it saves where there are fewer
  ir::Expr limit;                ///< over `elements` and `last`
  ir::Expr next;                 ///< over `chunk` and `size`
  ir::Expr window_least;         ///< over `storage` and `spread`
  ir::Expr window_limit;
  /// A vector takes one more lane while `filled` <= filled_limit and, for each load, `span` <= span_limit.
  ir::Expr filled_limit, span_limit;
};

[[nodiscard]] RowChunkLoop make_row_chunk_loop(ir::ExprContext& exprs, int lanes, int vectors, int longest_row);

/// A selection by column among loads that lie apart, one for each, which shuffles make instead for all vectors of a
/// chunk.
struct InterleavedColumns {
  int node = 0;            ///< of the body, whose operands nothing else uses
  std::vector<int> loads;  ///< of the columns, in order
  std::vector<Shuffle> shuffles;
};

/// Short rows of a case, which the host takes several at a time (compiler/schedule/host/row_chunks.cpp).
struct RowChunks {
  /// A whole row: its predicates are of the column alone, and load i's element is `offset`, over the column, after its
  /// source's `base`, over the outer coordinates.
  Body body;
  std::vector<LoadSource> sources;
  RowChunkLoop loop;
  std::vector<InterleavedColumns> interleaved;
};

/// Returns whether all vectors of a chunk take a load from one window: that of an element for each row, which follow
/// each other, as where columns that lie apart are joined.
[[nodiscard]] bool has_one_window(const Kernel& kernel, const RowChunks& rows, std::size_t load);

}  // namespace padlock::compiler
