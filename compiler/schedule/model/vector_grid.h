#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/expr/expr.h"

// A GPU's grid of vectors: the vectors of the flattened output at multiples of their size in memory, across rows. One
// description serves the code and the proof.
namespace padlock::compiler {

/// The two granules (vectors at multiples of their size) around a vector of a tensor. The first has lane 0, and the
/// last lane if the vector is itself a granule. Otherwise the second, which follows it, has the last lane.
struct Granules {
  // Variables:
  ir::Expr shift;  ///< elements from a multiple of a granule to lane 0: in [0, lanes)
  ir::Expr least;  ///< first element of the tensor's storage; not 0 if elements are counted from another
  ir::Expr end;    ///< the element after the last of the storage
  ir::Expr first;  ///< first element of the first granule
  // Over them:
  ir::Expr offset;                    ///< from the element of lane 0 to `first`
  std::vector<ir::Constraint> tests;  ///< tested at run time: they hold if both granules lie in the storage
};

/// The values of a block's rows that data decides, in memory that the block's threads share. They compute the values
/// once for each row: thread t for the rows at places t, t + threads and so on. Each vector then reads those of its own
/// row. Rows whose data needs no loop have no table.
struct RowTable {
  std::vector<ir::Expr> values;  ///< variables of data (Data::variable), a word of 32 bits each
  // Variables:
  ir::Expr row, first_row;  ///< counted from a launch's first; `first_row`: of `first`
  // Over them, and over the grid's variables:
  ir::Expr first, last;  ///< elements of the block that exist
  ir::Expr place;        ///< of a row's first word, in bytes
  ir::Expr capacity;     ///< rows for which a launch asks for memory: no block has more
  ir::Expr bytes;        ///< of memory

  [[nodiscard]] int row_bytes() const { return 4 * static_cast<int>(values.size()); }
};

/// Most bytes of a table. A multiprocessor then has memory for six blocks.
inline constexpr std::int64_t kMostTableBytes = std::int64_t{32} << 10;

/// Most elements of a block, for any config.
inline constexpr std::int64_t kLongestBlock = std::int64_t{1} << 16;

/// Vector v has the elements [lanes * v - phase, lanes * v - phase + lanes) of the flattened output, as far as they
/// exist. The first vector may begin before the output, the last may end after it. A block has `used` vectors for each
/// thread. Thread (slot mod threads) takes vector number `slot` of the block, so neighbouring threads have neighbouring
/// vectors.
struct VectorGrid {
  int threads = 0;  ///< of a block
  int vectors = 1;  ///< most vectors of a thread: it loads all before it stores the first
  int lanes = 1;    ///< elements of a vector
  // Variables:
  ir::Expr elements;  ///< of the output, or of a launch's part of it
  ir::Expr phase;     ///< elements from a multiple of a vector to the first result: in [0, lanes)
  ir::Expr used;      ///< vectors of each thread of a launch: from 1 to `vectors`
  ir::Expr block, slot;
  // Over them:
  ir::Expr first;           ///< of the vector: lanes * v - phase
  ir::Expr blocks;          ///< of a launch, for any phase
  ir::Expr beyond_single;   ///< a launch in which it is at most 0 takes one vector a thread, others `vectors`
  ir::Expr launched;        ///< the value of `used` in a launch
  bool by_element = false;  ///< each vector is made element by element, in at most two rows
  /// Remainders, by `lanes`, of the columns where segments end and of the elements where loads of rows begin. If all
  /// are 0, each vector at a multiple of `lanes` elements lies in one segment. Absent: such sizes have no code of their
  /// own.
  std::optional<std::vector<ir::Expr>> uneven = {};
  Granules granules = {};  ///< how neighbouring elements are loaded
  std::optional<RowTable> table = {};
};

/// Makes a grid whose launches take one vector a thread if their elements are few, or if `beyond_short` is at most 0.
/// `beyond_short` may be invalid.
[[nodiscard]] VectorGrid make_vector_grid(ir::ExprContext& exprs, int threads, int vectors, int lanes,
                                          ir::Expr beyond_short = {});

/// Makes the table of these values for rows of `columns` elements, of which there is at least one.
[[nodiscard]] RowTable make_row_table(ir::ExprContext& exprs, const VectorGrid& grid, ir::Expr columns,
                                      std::vector<ir::Expr> values);

/// Returns a grid's expression for this number of elements and of used vectors.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const VectorGrid& grid, ir::Expr e, ir::Expr elements,
                                 ir::Expr used);

}  // namespace padlock::compiler
