#include "compiler/schedule/choose_cover.h"

#include "compiler/schedule/gpu/covers.h"
#include "compiler/schedule/host/covers.h"

namespace padlock::compiler {

bool choose_cover(Schedule& schedule, const ScheduleOptions& options) {
  if (!options.blocks) {
    choose_runs(schedule, options);
    choose_row_axis(schedule);
    set_row_steps(schedule);
    make_turns(schedule, options);
    make_row_chunks(schedule, options);
    return true;
  }
  const bool by_data = schedule.kernel.reads_by_data();  // its rows lie anywhere
  if (options.blocks->boxes != BoxKind::none) return !by_data && cover_by_boxes(schedule, options);
  if (options.blocks->segmented != nullptr) return !by_data && cover_by_element(schedule, options);
  if (by_data || !options.blocks->tiles || !cover_by_tiles(schedule, options)) cover_by_vector_grid(schedule, options);
  return true;
}

}  // namespace padlock::compiler
