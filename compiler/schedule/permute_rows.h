#pragma once

#include <vector>

#include "compiler/schedule/make_schedule.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/segments.h"

namespace padlock::compiler {

/// Gives the cases of a host's schedule whose rows may be short a second way to take them
/// (compiler/schedule/chunk_loop.h), where the target permutes vectors: those in which no predicate depends on the row,
/// and each load's address is that of its row, which grows evenly, and a part that depends on the column alone.
void permute_rows(Schedule& schedule, const std::vector<RowCase>& cases, const ScheduleOptions& options);

}  // namespace padlock::compiler
