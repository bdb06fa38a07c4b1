#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

namespace padlock::compiler {

/// Chooses the cover of a schedule that has its bodies, and the loops that take each body's runs. Returns false if it
/// is asked for a cover of whole rows that does not apply: the schedule then has none.
[[nodiscard]] bool choose_cover(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
