#include "compiler/schedule/gpu/covers.h"

#include <algorithm>

#include "compiler/schedule/model/blend.h"

namespace padlock::compiler {
namespace {

// Limits for several vectors per thread: segments, and elements loaded one by one. Beyond them the code is too long for
// its gain.
constexpr std::size_t kMostSegments = 24;
constexpr std::ptrdiff_t kMostGathers = 0;

/// Chooses the grid. Its vectors are as wide as the config says, for the widest type of all bodies. Threads with long
/// code take fewer vectors.
VectorGrid grid_of(const Schedule& schedule, const ScheduleOptions& options) {
  int widest = 1;
  const std::size_t segments = schedule.segments();
  std::ptrdiff_t gathers = 0;
  for (const Body& body : schedule.bodies) {
    if (body.is_pointwise && reads_by_data(body)) continue;  // no vector, or a vector that is not stored
    widest = std::max(widest, widest_bytes(body, /*for_threads=*/true));
    gathers += std::ranges::count(body.loads, LoadKind::strided, &BodyLoad::kind);
  }
  int vectors = gathers > kMostGathers ? 1 : options.unroll;
  while (vectors > 1 && static_cast<std::size_t>(vectors) * segments > kMostSegments) vectors /= 2;
  return make_vector_grid(schedule.exprs(), options.blocks->threads, vectors,
                          std::max(1, options.vector_bytes / widest));
}

/// Chooses whole vectors of the grid, unless a predicate remains.
void choose_vectors(ir::ExprContext& exprs, int lanes, Body& body) {
  LoopStrategyOptions options{.whole = true};
  if (!body.is_pointwise && operation_count(body) <= kMostVectorOperations) options.lanes = lanes;
  body.lanes = options.lanes;
  body.strategies = make_loop_strategies(exprs, options);
}

}  // namespace

void cover_by_vector_grid(Schedule& schedule, const ScheduleOptions& options) {
  VectorGrid grid = grid_of(schedule, options);
  for (Body& body : schedule.bodies) choose_vectors(schedule.exprs(), grid.lanes, body);
  const int threads = grid.threads, lanes = grid.lanes;
  schedule.cover = std::move(grid);
  const auto is_blended = [&](const ScheduledCase& row) { return blend_of(schedule, row).has_value(); };
  // Loading all segments for a second vector would take half the threads' registers.
  if (std::ranges::any_of(schedule.cases, is_blended))
    schedule.cover = make_vector_grid(schedule.exprs(), threads, /*vectors=*/1, lanes);
}

}  // namespace padlock::compiler
