#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

namespace padlock::compiler {

/// Chooses, for each body, its vectors and the loops that may take a run (compiler/schedule/model/loop_strategy.h).
void choose_runs(Schedule& schedule, const ScheduleOptions& options);

/// Finds the row recurrence of each load's address (compiler/schedule/cases/row_recurrence.h), by which runs of several
/// rows are taken together.
void set_row_steps(Schedule& schedule);

}  // namespace padlock::compiler
