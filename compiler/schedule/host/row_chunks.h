#pragma once

#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"
#include "compiler/schedule/model/segments.h"

namespace padlock::compiler {

/// Gives the cases of a host's schedule whose rows may be short a second way to take them
/// (compiler/schedule/model/row_chunks.h), where the target permutes vectors: those in which no predicate depends on
/// the row, and each load's address is that of its row, which grows evenly, and a part that depends on the column
/// alone.
void make_row_chunks(Schedule& schedule, const std::vector<RowCase>& cases, const ScheduleOptions& options);

}  // namespace padlock::compiler
