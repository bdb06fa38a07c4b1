#pragma once

#include "compiler/make_schedule.h"
#include "compiler/schedule.h"

namespace padlock::compiler {

/// Chooses, for each body, its vectors and the loops that may take a run (compiler/walk.h).
void choose_walks(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
