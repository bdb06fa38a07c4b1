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

}  // namespace padlock::compiler
