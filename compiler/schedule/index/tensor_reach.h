#pragma once

#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/tensor_reach.h"

namespace padlock::compiler {

/// Returns whether a coordinate of an element that is read is a sum of literal multiples of the outer coordinates.
[[nodiscard]] bool moves_with_rows(const Kernel& kernel, ir::Expr coordinate);

/// Returns the reach of a load whose vectors have so many lanes.
[[nodiscard]] TensorReach reach_of(const Kernel& kernel, const LoadSource& source, int lanes);

/// Gives each load of a schedule with a grid of vectors its reach, and returns them, each once. Along an axis of a
/// tensor on which the coordinate does not move with rows, a load reaches all of it.
[[nodiscard]] std::vector<TensorReach> set_reaches(Schedule& schedule);

}  // namespace padlock::compiler
