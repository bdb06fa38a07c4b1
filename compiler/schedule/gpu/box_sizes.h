#pragma once

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Chooses the sizes of boxes, which a launch evaluates. Adds to the schedule the comparisons of the sizes that they
/// serve. Proofs use neither: they hold for boxes of any size. `widest`: bytes of a vector's widest element.
void choose_box_sizes(Schedule& schedule, Boxes& boxes, int widest);

}  // namespace padlock::compiler
