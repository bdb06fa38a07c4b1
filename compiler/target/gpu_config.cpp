#include "compiler/target/gpu_config.h"

#include <utility>

#include "compiler/pipeline.h"
#include "compiler/target/config_text.h"

namespace padlock::compiler {
namespace {

constexpr int kVectorBytes = 16;  // the most that a thread loads or stores at a time

std::vector<ConfigField> fields_of(GpuConfig& config) {
  return {
      config_field<GridMap>("map", config.map, {{GridMap::stream, "stream"}, {GridMap::tiled, "tiled"}}),
      config_field("threads", config.threads, {64, 128, 256, 512}),
      config_field("items", config.items, {1, 2, 4}),
      config_field<TileSize>("tiles", config.tiles,
                             {{TileSize::by_output, "auto"},
                              {TileSize::large, "large"},
                              {TileSize::medium, "medium"},
                              {TileSize::small, "small"}}),
      config_field("split", config.split),
      config_field<CacheHint>("cache", config.cache, {{CacheHint::none, "none"}, {CacheHint::streaming, "streaming"}})};
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

Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits) {
  GpuConfig chosen = config;
  Schedule schedule =
      make_schedule(std::move(kernel), config.to_string(),
                    {.split = config.split,
                     .vector_bytes = kVectorBytes,
                     .unroll = config.items,
                     .store = config.cache == CacheHint::streaming ? StoreKind::nontemporal : StoreKind::plain,
                     .threads = config.threads,
                     .tiles_transposes = config.map == GridMap::tiled,
                     .tile_size = config.tiles,
                     .edits = edits});
  if (config.map == GridMap::tiled && !schedule.tile) chosen.map = GridMap::stream;
  schedule.config = chosen.to_string();
  return schedule;
}

namespace {

/// Bounds the segments of a kernel that is worth a second schedule: more are long code.
constexpr std::size_t kMostSegments = 16;

std::size_t segments_of(const Schedule& schedule) {
  std::size_t segments = 0;
  for (const ScheduledCase& row : schedule.cases) segments += row.calls.size();
  return segments;
}

/// Returns what is <= 0 where a tile would be mostly empty: where it is wider than the output, or its rows are six
/// times as many as the output's and more. A stream loads element by element, of which it then finds the neighbours in
/// a cache. (An H200, images of some 40 MB: NCHW to NHWC, f32, of 3, 8, 16, 32 and 64 channels 0.60, 0.73, 0.77, 0.77
/// and 0.74 of a copy's speed as a stream, 0.06, 0.19, 0.30, 0.49 and 0.72 in tiles; i8 0.38, 0.39, 0.69, 0.68 and
/// 0.67, and 0.02, 0.05, 0.09, 0.19 and 0.30. NHWC to NCHW, f32, of 3, 8 and 16 0.68, 0.33 and 0.32, and 0.14, 0.31 and
/// 0.48; i8 of 3, 8, 16 and 32 0.59, 0.17, 0.16 and 0.10, and 0.02, 0.06, 0.10 and 0.18.)
ir::Expr narrowness(const Schedule& tiled) {
  constexpr int kEmptiness = 6;
  ir::ExprContext& exprs = tiled.exprs();
  const TransposeTile& tile = *tiled.tile;
  const ir::Expr rows = tiled.kernel.extents[static_cast<std::size_t>(tile.axis)];
  return exprs.min(exprs.sub(tiled.columns, exprs.constant(tile.stored_columns() - 1)),
                   exprs.sub(rows, exprs.constant(tile.side() / kEmptiness)));
}

}  // namespace

std::vector<Schedule> schedules_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits) {
  std::vector<Schedule> made = {schedule_for_gpu(std::move(kernel), config, edits)};
  const Schedule& first = made.front();
  if (!first.tile || config.tiles != TileSize::by_output || segments_of(first) > kMostSegments) return made;
  const ir::Expr narrow = narrowness(first);
  if (narrow.range().lo > 0) return made;
  GpuConfig streamed = config;
  streamed.map = GridMap::stream;
  Schedule stream = schedule_for_gpu(first.kernel, streamed, edits);
  if (narrow.range().hi <= 0) {
    made.front() = std::move(stream);
    return made;
  }
  stream.serves = {{abi::Assumption::narrow, {narrow, ir::Comparison::le, stream.exprs().constant(0)}}};
  made.push_back(std::move(stream));
  return made;
}

}  // namespace padlock::compiler
