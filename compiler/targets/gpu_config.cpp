#include "compiler/targets/gpu_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "compiler/targets/config_text.h"

namespace padlock::compiler {
namespace {

constexpr int kVectorBytes = 16;  // widest access of a thread

std::vector<ConfigField> fields_of(GpuConfig& config) {
  return {config_field<GridMap>("map", config.map, {{GridMap::vector_grid, "vector_grid"}, {GridMap::tiles, "tiles"}}),
          config_field("threads", config.threads, {64, 128, 256, 512}),
          config_field("items", config.items, {1, 2, 4}),
          config_field<TileSize>("tiles", config.tiles,
                                 {{TileSize::by_output, "auto"},
                                  {TileSize::large, "large"},
                                  {TileSize::medium, "medium"},
                                  {TileSize::small, "small"}}),
          config_field("split", config.split),
          config_field<CacheHint>("cache", config.cache,
                                  {{CacheHint::none, "none"}, {CacheHint::evict_first, "evict_first"}})};
}

}  // namespace

Result<GpuConfig> GpuConfig::parse(std::string_view text, const GpuConfig& base) {
  GpuConfig config = base;
  PADLOCK_CHECK(parse_config(text, fields_of(config)));
  return config;
}

std::string GpuConfig::to_string() const {
  GpuConfig copy = *this;
  return config_text(fields_of(copy));
}

std::vector<GpuConfig> GpuConfig::all() {
  std::vector<GpuConfig> configs;
  GpuConfig config;
  for_each_config(fields_of(config), [&] { configs.push_back(config); });
  return configs;
}

GpuConfig GpuConfig::standard() { return {}; }

Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits, PassLog* log) {
  GpuConfig chosen = config;
  Schedule schedule = make_schedule(
      std::move(kernel), config.to_string(),
      {.split = config.split,
       .vector_bytes = kVectorBytes,
       .unroll = config.items,
       .store = config.cache == CacheHint::evict_first ? StoreKind::nontemporal : StoreKind::plain,
       .blocks =
           BlockOptions{.threads = config.threads, .tiles = config.map == GridMap::tiles, .tile_size = config.tiles},
       .edits = edits,
       .log = log});
  if (schedule.grid() != nullptr) chosen.map = GridMap::vector_grid;
  schedule.config = chosen.to_string();
  return schedule;
}

namespace {

/// Most segments of a kernel that gets a second schedule: more would be long code.
constexpr std::size_t kMostSegmentsTwice = 16;

/// Returns an expression that is <= 0 if tiles would be mostly empty: the output has fewer than three quarters of a
/// large tile's columns, or at most a sixth of its rows. A grid of vectors loads single elements and finds their
/// neighbours in a cache: f32 of 16 columns at 1.02 of a copy, in tiles at 0.26 (an H200; docs/performance-gpu.md).
ir::Expr narrowness(const Schedule& tiled) {
  ir::ExprContext& exprs = tiled.exprs();
  const TransposeTile& tile = tiled.tiles()->shapes.front();
  const ir::Expr rows = tiled.kernel.extents[static_cast<std::size_t>(tile.axis)];
  return exprs.min(exprs.sub(tiled.columns, exprs.constant(tile.stored_columns() * 3 / 4 - 1)),
                   exprs.sub(rows, exprs.constant(tile.side() / 6)));
}

}  // namespace

namespace {

/// Boxes do not depend on a grid's threads and vectors, so a search tries them once with each kind of store.
bool has_boxes(const GpuConfig& config) {
  GpuConfig other = config;
  other.cache = GpuConfig::standard().cache;
  return other == GpuConfig::standard();
}

/// Returns whether sizes exist that a schedule serves.
bool may_serve(const Schedule& schedule) {
  return std::ranges::all_of(schedule.serves, [](const abi::Guard& guard) {
    const ir::Constraint& holds = guard.holds;
    return holds.comparison == ir::Comparison::le ? holds.lhs.range().lo <= holds.rhs.constant()
                                                  : holds.lhs.range().hi >= holds.rhs.constant();
  });
}

/// Returns a schedule of whole rows for a kernel that has another schedule; nothing if these blocks do not apply.
std::optional<Schedule> whole_rows_for_gpu(const Schedule& other, const BlockOptions& blocks, std::string_view name,
                                           const PassEdits* edits, PassLog* log) {
  Schedule made = make_schedule(other.kernel, other.config,
                                {.split = false,
                                 .vector_bytes = kVectorBytes,
                                 .store = other.store,
                                 .blocks = blocks,
                                 .edits = edits,
                                 .log = log});
  if ((made.boxes() == nullptr && made.grid() == nullptr) || made.index32.bound == 0 || !may_serve(made))
    return std::nullopt;
  made.config += fmt::format(",{}", name);
  return made;
}

/// Adds a grid of vectors for outputs that leave tiles mostly empty. Replaces the tiles if all outputs do.
void add_narrow(std::vector<Schedule>& made, const GpuConfig& config, const PassEdits* edits, PassLog* log) {
  const Schedule& tiled = made.front();
  const ir::Expr narrow = narrowness(tiled);
  const bool always = narrow.range().hi <= 0;
  if (narrow.range().lo > 0 || (!always && tiled.segments() > kMostSegmentsTwice)) return;
  GpuConfig flat = config;
  flat.map = GridMap::vector_grid;
  flat.items = 1;  // gathers take one vector anyway: one kind of code for all sizes of this schedule
  Schedule grid = schedule_for_gpu(tiled.kernel, flat, edits, log);
  if (always) {
    made.front() = std::move(grid);
  } else if (tiled.index32.bound > 0 && grid.index32.bound > 0) {
    grid.serves = {{abi::Assumption::narrow_output, {narrow, ir::Comparison::le, grid.exprs().constant(0)}}};
    made.push_back(std::move(grid));
  }
}

}  // namespace

std::vector<Schedule> schedules_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits, PassLog* log) {
  std::vector<Schedule> made;
  made.push_back(schedule_for_gpu(std::move(kernel), config, edits, log));
  if (made.front().tiles() != nullptr && config.tiles == TileSize::by_output) add_narrow(made, config, edits, log);
  if (made.front().index32.bound == 0 || !has_boxes(config)) return made;
  auto by_element =
      whole_rows_for_gpu(made.front(), {.tiles = false, .segmented = &made.front()}, "by_element", edits, log);
  for (const BoxKind kind : {BoxKind::rows, BoxKind::joined, BoxKind::parts}) {
    if (kind == BoxKind::rows && by_element && made.front().grid() != nullptr) continue;  // its short rows need none
    auto boxed = whole_rows_for_gpu(made.front(), {.tiles = false, .boxes = kind}, name_of(kind), edits, log);
    if (!boxed) continue;
    made.push_back(*std::move(boxed));
  }
  if (by_element) made.push_back(*std::move(by_element));  // faster than boxes
  return made;
}

}  // namespace padlock::compiler
