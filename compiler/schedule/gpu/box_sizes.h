#pragma once

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Chooses how much boxes have, which a launch evaluates, and adds the comparisons of the sizes that they serve to the
/// schedule. Proofs know neither: they hold for boxes of any size. `widest`: bytes of the widest element that a vector
/// has.
void choose_box_sizes(Schedule& schedule, Boxes& boxes, int widest);

}  // namespace padlock::compiler
