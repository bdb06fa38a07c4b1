#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/expr/expr.h"

// A GPU's grid of vectors: those of the flattened output, which lie at multiples of their size
// in memory, whatever the rows are. One description serves the code and the proof.
namespace padlock::compiler {

/// The two granules, vectors at multiples of their size, around a vector of a tensor: the first has lane 0, and the
/// last lane, too, if the vector is a granule itself; else the second, which follows it, has the last lane.
struct Granules {
  // Variables:
  ir::Expr shift;  ///< elements that lane 0 is past a multiple of a granule: in [0, lanes)
  ir::Expr
      least;     ///< the first element of the tensor's storage, which is not 0 where elements are counted from another
  ir::Expr end;  ///< the element after the last of the storage
  ir::Expr first;  ///< the element at which the first granule begins
  // Over them:
  ir::Expr offset;                    ///< from the element of lane 0 to it
  std::vector<ir::Constraint> tests;  ///< asked at run time: they hold where both granules lie in the storage
};

/// A block makes fewer elements, whatever its config is.
inline constexpr std::int64_t kLongestBlock = std::int64_t{1} << 16;

/// Vector v has the elements [lanes * v - phase, lanes * v - phase + lanes) of the flattened output, as far as there
/// are such: the first vector may begin before the output, the last may end after it. A block has `used` vectors for
/// each of its threads: vector number `slot` of a block is thread (slot mod threads)'s, so that neighbouring threads
/// have neighbouring vectors.
struct VectorGrid {
  int threads = 0;  ///< of a block
  int vectors = 1;  ///< that a thread takes at most: it loads all before it stores the first
  int lanes = 1;    ///< elements of a vector
  // Variables:
  ir::Expr elements;  ///< of the output, or of the part of it that is a launch's
  ir::Expr phase;     ///< by how many elements the first result is past a multiple of a vector: in [0, lanes)
  ir::Expr used;      ///< vectors that each thread of a launch takes: from 1 to `vectors`
  ir::Expr block, slot;
  // Over them:
  ir::Expr first;                ///< of the vector: lanes * v - phase
  ir::Expr blocks;               ///< of a launch, for any phase
  std::int64_t most_single = 0;  ///< elements: up to so many a launch takes one vector a thread, else `vectors`
  ir::Expr launched;             ///< the value of `used` in a launch
  Granules granules = {};        ///< how neighbouring elements are loaded
};

[[nodiscard]] VectorGrid make_vector_grid(ir::ExprContext& exprs, int threads, int vectors, int lanes);

/// Returns an expression of the grid for so many elements and used vectors.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const VectorGrid& grid, ir::Expr e, ir::Expr elements,
                                 ir::Expr used);

}  // namespace padlock::compiler
