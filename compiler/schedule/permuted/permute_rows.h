#pragma once

#include <vector>

#include "compiler/schedule/make_schedule.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/segments.h"

namespace padlock::compiler {

/// Gives the cases of a host's schedule whose rows may be short a second way to take them
/// (compiler/schedule/permuted/chunk_loop.h), where the target permutes vectors: those in which no predicate depends on
/// the row, and each load's address is that of its row, which grows evenly, and a part that depends on the column
/// alone.
void permute_rows(Schedule& schedule, const std::vector<RowCase>& cases, const ScheduleOptions& options);

/// Returns whether all vectors of a chunk take a load from one window: that of an element for each row, which follow
/// each other, as where columns that lie apart are joined.
[[nodiscard]] bool has_one_window(const Kernel& kernel, const PermutedRows& rows, std::size_t load);

}  // namespace padlock::compiler
