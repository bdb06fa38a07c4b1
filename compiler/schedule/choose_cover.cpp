#include "compiler/schedule/choose_cover.h"

#include "compiler/schedule/gpu/covers.h"
#include "compiler/schedule/host/covers.h"

namespace padlock::compiler {

void choose_cover(Schedule& schedule, const ScheduleOptions& options) {
  if (!options.blocks) {
    choose_runs(schedule, options);
    choose_row_axis(schedule);
    set_row_steps(schedule);
    make_turns(schedule, options);
    make_row_chunks(schedule, options);
  } else if (schedule.kernel.reads_by_data()) {  // its rows lie anywhere
    cover_by_vector_grid(schedule, options);
  } else if (options.blocks->boxes != BoxKind::none && cover_by_boxes(schedule, options)) {
    return;
  } else if (options.blocks->segmented != nullptr && cover_by_element(schedule, options)) {
    return;
  } else if (!options.blocks->tiles || !cover_by_tiles(schedule, options)) {
    cover_by_vector_grid(schedule, options);
  }
}

}  // namespace padlock::compiler
