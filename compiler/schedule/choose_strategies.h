#pragma once

#include "compiler/schedule/make_schedule.h"
#include "compiler/schedule/schedule.h"

namespace padlock::compiler {

/// Chooses, for each body, its vectors and the loops that may take a run (compiler/schedule/loop_strategy.h).
void choose_walks(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
