#pragma once

#include "compiler/schedule/make_schedule.h"
#include "compiler/schedule/schedule.h"

namespace padlock::compiler {

/// Chooses, for each body, its vectors and the loops that may take a run (compiler/schedule/loop_strategy.h).
void choose_walks(Schedule& schedule, const ScheduleOptions& options);

/// Returns bytes of the widest element that a body holds in registers.
[[nodiscard]] int widest_bytes(const Body& body, bool for_threads);

}  // namespace padlock::compiler
