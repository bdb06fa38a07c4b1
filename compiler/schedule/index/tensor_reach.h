#pragma once

#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/expr.h"
#include "ir/program.h"

namespace padlock::compiler {

struct Schedule;
struct Stream;

/// Bounds the elements that a stream reads for a row of the output, with the granules around its vectors
/// (compiler/schedule/vector_grid.h): those of [least + offset, most + offset] that the tensor's storage has, where
/// `offset` is the sum of step i times outer coordinate i.
struct TensorReach {
  ir::ValueId tensor = 0;
  std::vector<ir::Expr> steps;  ///< elements, one for each outer axis; over symbols, as all of it
  ir::Expr least, most;
};

/// Returns whether a coordinate of an element that is read is a sum of literal multiples of the outer coordinates.
[[nodiscard]] bool moves_with_rows(const Kernel& kernel, ir::Expr coordinate);

/// Returns the reach of a stream whose vectors have so many lanes.
[[nodiscard]] TensorReach reach_of(const Kernel& kernel, const Stream& stream, int lanes);

/// Gives each stream of a GPU's schedule with a grid its reach, and returns them, each once. Along an axis of a tensor
/// on which the coordinate does not move with rows, a stream reaches all of it.
[[nodiscard]] std::vector<TensorReach> set_reaches(Schedule& schedule);

}  // namespace padlock::compiler
