#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

// The makers of a GPU's covers, each in the source of its name.
namespace padlock::compiler {

/// Covers the output by a grid of vectors (compiler/schedule/model/vector_grid.h): for rows of any length.
void cover_by_vector_grid(Schedule& schedule, const ScheduleOptions& options);

/// Covers the output by tiles (compiler/schedule/model/tiles.h), where a load that moves with the innermost coordinate
/// is contiguous along another axis of the output. Returns false where none is, and changes nothing then.
[[nodiscard]] bool cover_by_tiles(Schedule& schedule, const ScheduleOptions& options);

/// Covers the output by boxes (compiler/schedule/model/boxes.h), where every load moves with the innermost coordinate
/// of the output, one element for one, or not at all, and no case or segment was split off. Returns false where that is
/// not so, and changes nothing then.
[[nodiscard]] bool cover_by_boxes(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
