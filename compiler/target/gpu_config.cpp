#include "compiler/target/gpu_config.h"

#include <algorithm>
#include <utility>

#include "compiler/pipeline.h"
#include "compiler/target/config_text.h"

namespace padlock::compiler {
namespace {

constexpr int kTrips = 4;  // of the loop over a team's part of a row: to divide for a tile costs about as much as one

std::vector<ConfigField> fields_of(GpuConfig& config) {
  return {
      config_field<GridMap>("map", config.map,
                            {{GridMap::flat, "flat"},
                             {GridMap::rows, "rows"},
                             {GridMap::stream, "stream"},
                             {GridMap::tiled, "tiled"},
                             {GridMap::tiles, "tiles"}}),
      config_field("threads", config.threads, {128, 256, 512}),
      config_field("team", config.team, {8, 32}),
      config_field("items", config.items, {1, 2, 4}),
      config_field("vector_bytes", config.vector_bytes, {4, 8, 16}),
      config_field<MisalignedSource>("misaligned", config.misaligned,
                                     {{MisalignedSource::narrow, "narrow"}, {MisalignedSource::shift, "shift"}}),
      config_field("split", config.split),
      config_field<CacheHint>("cache", config.cache, {{CacheHint::none, "none"}, {CacheHint::streaming, "streaming"}}),
      config_field("persistent", config.persistent)};
}

bool walks_vectors(const GpuConfig& config) { return config.map == GridMap::stream || config.map == GridMap::tiled; }

/// Returns whether a key that means nothing is not at its default.
bool is_redundant(const GpuConfig& config) {
  const GpuConfig standard = GpuConfig::standard();
  const bool vectors = config.map != GridMap::flat && config.split;
  if (walks_vectors(config) &&
      (config.vector_bytes != standard.vector_bytes || config.misaligned != standard.misaligned || config.persistent))
    return true;
  if (!vectors && (config.vector_bytes != standard.vector_bytes || config.misaligned != standard.misaligned))
    return true;
  return config.map != GridMap::tiles && config.team != standard.team;
}

/// Elements of the widest vector of a kernel's results.
int lanes_of(const Kernel& kernel, int vector_bytes) {
  int widest = 1;
  for (const ir::ValueId result : kernel.results)
    widest = std::max(widest, ir::byte_size(kernel.program->value(result).dtype));
  return std::max(1, vector_bytes / widest);
}

ThreadMap threads_of(const Kernel& kernel, const GpuConfig& config) {
  ThreadMap map{.threads = config.threads, .persistent = config.persistent};
  switch (config.map) {
    case GridMap::flat:
      map.flat = true;
      map.tile_columns = config.threads * config.items;
      break;
    case GridMap::stream:
    case GridMap::tiled:
      break;
    case GridMap::rows:
      map.team = config.threads;
      break;
    case GridMap::tiles:
      map.team = kernel.rank() == 1 ? config.threads : config.team;
      map.tile_rows = map.teams();
      map.tile_columns = kTrips * config.team * config.items * lanes_of(kernel, config.vector_bytes);
      if (kernel.rank() == 1) map.tile_columns *= config.threads / config.team / kTrips;
      break;
  }
  return map;
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
  for_each_config(fields_of(config), [&] {
    if (!is_redundant(config)) configs.push_back(config);
  });
  return configs;
}

GpuConfig GpuConfig::standard() { return {}; }

Schedule schedule_for_gpu(Kernel kernel, const GpuConfig& config, const PassEdits* edits) {
  const ThreadMap threads = threads_of(kernel, config);
  GpuConfig chosen = config;
  Schedule schedule =
      make_schedule(std::move(kernel), config.to_string(),
                    {.split = config.split,
                     .vector_bytes = config.vector_bytes,
                     .unroll = config.items,
                     .store = config.cache == CacheHint::streaming ? StoreKind::nontemporal : StoreKind::plain,
                     .threads = threads,
                     .walks_vectors = walks_vectors(config),
                     .tiles_transposes = config.map == GridMap::tiled,
                     .realign = config.misaligned == MisalignedSource::shift,
                     .edits = edits});
  if (config.map == GridMap::tiled && !schedule.tile) chosen.map = GridMap::stream;
  schedule.config = chosen.to_string();
  return schedule;
}

}  // namespace padlock::compiler
