#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

// The makers of the host's covers, each in the source of its name.
namespace padlock::compiler {

/// Chooses, for each body, its vectors and the loops that may take a run (compiler/schedule/model/loop_strategy.h).
void choose_runs(Schedule& schedule, const ScheduleOptions& options);

/// Counts rows along the axis, if there is one, along which elements are adjacent that a row's columns load from far
/// apart.
void choose_row_axis(Schedule& schedule);
/// Gives the bodies of such loads boxes (compiler/schedule/model/turn.h), after set_row_steps.
void make_turns(Schedule& schedule, const ScheduleOptions& options);

/// Finds the row recurrence of each load's address (compiler/schedule/cases/row_recurrence.h), by which runs of several
/// rows are taken together.
void set_row_steps(Schedule& schedule);

/// Gives a host's schedule whose rows may be short a second way to take them (compiler/schedule/model/row_chunks.h),
/// where the target permutes vectors: by units of the fewest inner axes in which no predicate depends on the unit, and
/// each load's address is that of its unit, which grows evenly, a part that depends on the rows in it, and one that
/// depends on the column alone.
void make_row_chunks(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
