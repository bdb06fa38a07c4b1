#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

namespace padlock::compiler {

/// Covers the output by a grid of vectors (compiler/schedule/model/vector_grid.h): for rows of any length.
void cover_by_vector_grid(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
