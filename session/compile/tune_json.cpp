#include "session/compile/tune_json.h"

#include "support/json_writer.h"

namespace padlock::session {
namespace {

void write_sizes(JsonWriter& json, const tuner::Sizes& sizes) {
  json.key("sizes").begin_object();
  for (const auto& [name, value] : sizes) json.member(name, value);
  json.end_object();
}

/// Writes, by setting, times divided by the default's, and half their 95 % intervals.
void write_ratios(JsonWriter& json, const std::optional<tuner::Ratios>& ratios) {
  if (!ratios) return;
  json.key("ratios").begin_object();
  tuner::visit_members(*ratios, [&](const char* name, const tuner::Sizes& values) {
    json.key(name).begin_object();
    for (const auto& [setting, value] : values) json.member(setting, value);
    json.end_object();
  });
  json.end_object();
}

void write_region(JsonWriter& json, const tuner::PlannedRegion& planned) {
  json.begin_object().member("region", planned.region).member("regime", name_of(planned.regime));
  write_sizes(json, planned.sizes);
  json.member("notes", planned.notes);
}

}  // namespace

std::string to_json(const std::string& program, const TunePlan& plan, std::uint64_t seed) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "tune").member("program", program);
  json.member("dry_run", true).member("target", plan.target).member("seed", seed);
  json.member("memory_bytes", plan.memory_bytes).key("regions").begin_array();
  for (const RegionPlan& region : plan.regions) {
    write_region(json, region.planned);
    json.member("least_seconds", region.least_seconds)
        .member("scratch_bytes", region.scratch_bytes)
        .member("configs_in_space", region.candidates.size());
    std::vector<std::string> configs;
    for (const std::size_t i : region.order) configs.push_back(region.candidates[i].config);
    json.member("configs", configs).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

std::string to_json(const std::string& program, const TuneReport& report, const std::string& cache,
                    std::uint64_t seed) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "tune").member("program", program);
  json.member("dry_run", false).member("target", report.target).member("seed", seed);
  json.member("cache", cache).member("key", report.key).key("regions").begin_array();
  for (const TunedRegion& region : report.regions) {
    const tuner::SearchOutcome& outcome = region.outcome;
    write_region(json, region.planned);
    if (outcome.config) json.member("config", *outcome.config);
    json.member("reason", outcome.reason).member("was_known", region.was_known);
    write_ratios(json, outcome.ratios);
    json.member("median_ps", outcome.median_ps).member("default_ps", outcome.default_ps);
    json.member("measured", outcome.measurements.size())
        .member("candidates", outcome.candidates)
        .member("failed", region.failed());
    json.member("trials", outcome.trials).end_object();
  }
  json.end_array().member("trials", report.trials).member("seconds", report.seconds);
  json.member("interrupted", report.interrupted).end_object();
  return std::move(json).take();
}

}  // namespace padlock::session
