#pragma once

#include <vector>

#include "ir/expr/expr.h"
#include "ir/program.h"

namespace padlock::compiler {

/// Bounds the elements that a load reads for a row of the output, with the granules around its vectors
/// (compiler/schedule/model/vector_grid.h): those of [least + offset, most + offset] that the tensor's storage has,
/// where `offset` is the sum of step i times outer coordinate i.
struct TensorReach {
  ir::ValueId tensor = 0;
  std::vector<ir::Expr> steps;  ///< elements, one for each outer axis; over symbols, as all of it
  ir::Expr least, most;
};

}  // namespace padlock::compiler
