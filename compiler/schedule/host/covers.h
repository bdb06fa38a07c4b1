#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

// The makers of the host's covers, each in the source of its name.
namespace padlock::compiler {

/// Most operations of a body that stores past the caches: what computes more is not bound by memory.
inline constexpr std::size_t kMostStreamedOperations = 4;

/// Chooses each body's vectors, and the loops that may take a run (compiler/schedule/model/loop_strategy.h).
void choose_runs(Schedule& schedule, const ScheduleOptions& options);

/// Counts rows along an axis, if there is one, along which loads are adjacent that lie far apart along columns.
void choose_row_axis(Schedule& schedule);
/// Gives the bodies of these loads boxes (compiler/schedule/model/turn.h). Call after set_row_steps.
void make_turns(Schedule& schedule, const ScheduleOptions& options);

/// Finds the row recurrence of each load's address (compiler/schedule/cases/row_recurrence.h), so that runs of several
/// rows can be taken together.
void set_row_steps(Schedule& schedule);

/// Gives a host's schedule of possibly short rows a second way to take them (compiler/schedule/model/row_chunks.h), if
/// the target permutes vectors. Units have the fewest inner axes for which two conditions hold: predicates depend on
/// the unit's coordinates alone, and each load's address is a sum of three terms. These are the unit's, which grows
/// evenly, one of the rows in the unit, and one of the column alone. If there are no such axes, as where the first axis
/// is padded, units are those for which the predicates on other coordinates hold.
void make_row_chunks(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
