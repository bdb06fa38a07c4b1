#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

// The makers of a GPU's covers, each in the source of its name.
namespace padlock::compiler {

/// Covers the output by a grid of vectors (compiler/schedule/model/vector_grid.h): for rows of any length.
void cover_by_vector_grid(Schedule& schedule, const ScheduleOptions& options);

/// Returns VectorGrid::uneven of a schedule whose grid, cases and bodies are made.
[[nodiscard]] std::optional<std::vector<ir::Expr>> uneven_of(const Schedule& schedule);

/// Covers the output by tiles (compiler/schedule/model/tiles.h) if a load that moves with the innermost coordinate is
/// contiguous along another axis of the output. Otherwise returns false and changes nothing.
[[nodiscard]] bool cover_by_tiles(Schedule& schedule, const ScheduleOptions& options);

/// Covers the output by boxes (compiler/schedule/model/boxes.h). Every load must move with the innermost coordinate,
/// one element for one, or not at all, and no case or segment may be split off. Otherwise returns false and changes
/// nothing.
[[nodiscard]] bool cover_by_boxes(Schedule& schedule, const ScheduleOptions& options);

/// Covers the output by a grid whose vectors are made element by element, in whole rows, and adds which sizes it
/// serves. Every load must have a part that the row decides and a part that the column decides. Otherwise returns false
/// and changes nothing.
[[nodiscard]] bool cover_by_element(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
