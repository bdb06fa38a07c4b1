#pragma once

#include <cstdint>
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
  ir::Expr first;                ///< of the vector: lanes * v - phase
  ir::Expr blocks;               ///< of a launch, for any phase
  std::int64_t most_single = 0;  ///< elements: a launch of at most this many takes one vector a thread, else `vectors`
  ir::Expr launched;             ///< the value of `used` in a launch
  Granules granules = {};        ///< how neighbouring elements are loaded
};

[[nodiscard]] VectorGrid make_vector_grid(ir::ExprContext& exprs, int threads, int vectors, int lanes);

/// Returns a grid's expression for this number of elements and of used vectors.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const VectorGrid& grid, ir::Expr e, ir::Expr elements,
                                 ir::Expr used);

}  // namespace padlock::compiler
