#pragma once

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

namespace padlock::compiler {

/// Covers the output by tiles (compiler/schedule/model/tiles.h), where a load that moves with the innermost coordinate
/// is contiguous along another axis of the output. Returns false where none is, and changes nothing then.
[[nodiscard]] bool cover_by_tiles(Schedule& schedule, const ScheduleOptions& options);

}  // namespace padlock::compiler
