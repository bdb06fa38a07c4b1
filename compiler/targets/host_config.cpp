#include "compiler/targets/host_config.h"

#include <utility>

#include "compiler/pipeline.h"
#include "compiler/targets/config_text.h"

namespace padlock::compiler {
namespace {

/// Fields in the order of the search space; of two equally good configs the earlier is taken. Vectors of half a cache
/// line come first: a pad shifts loads, so that each load of a whole line would cross into the next.
std::vector<ConfigField> fields_of(HostConfig& config) {
  return {
      config_field("vector_bytes", config.vector_bytes, {32, 64, 16}),
      config_field("unroll", config.unroll, {1, 2, 4}),
      config_field("split", config.split),
      config_field<StoreKind>(
          "store", config.store,
          {{StoreKind::plain, "plain"}, {StoreKind::nontemporal, "nontemporal"}, {StoreKind::automatic, "automatic"}}),
      config_field("plan", config.plan),
      config_field("task_kib", config.task_kib, {64, 256, 1024})};
}

}  // namespace

Result<HostConfig> HostConfig::parse(std::string_view text, const HostConfig& base) {
  HostConfig config = base;
  PADLOCK_CHECK(parse_config(text, fields_of(config)));
  return config;
}

std::string HostConfig::to_string() const {
  HostConfig copy = *this;
  return config_text(fields_of(copy));
}

std::vector<HostConfig> HostConfig::all() {
  std::vector<HostConfig> configs;
  HostConfig config;
  for_each_config(fields_of(config), [&] { configs.push_back(config); });
  return configs;
}

Schedule schedule_for_host(Kernel kernel, const HostConfig& config, const PassEdits* edits,
                           const VectorPermutes& permutes, PassLog* log) {
  return make_schedule(std::move(kernel), config.to_string(),
                       {.split = config.split,
                        .vector_bytes = config.vector_bytes,
                        .unroll = config.unroll,
                        .store = config.store,
                        .plans = config.plan,
                        .permutes = permutes,
                        .edits = edits,
                        .log = log});
}

}  // namespace padlock::compiler
