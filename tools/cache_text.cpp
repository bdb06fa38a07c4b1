#include "tools/cache_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "support/json_writer.h"

namespace padlock::tools {
namespace {

using api::CacheEntry;
using api::Choice;
using api::Measurement;
using api::Verdict;

std::string brief(const std::string& hash) { return hash.substr(0, 12); }

std::string region_text(const std::string& region) { return region.empty() ? "all sizes" : region; }

std::int64_t count_failures(const CacheEntry& entry) {
  return std::ranges::count_if(entry.measurements, [](const Measurement& m) { return m.verdict != Verdict::ok; });
}

std::string microseconds(std::int64_t picoseconds) {
  return fmt::format("{:.3f} us", static_cast<double>(picoseconds) / 1e6);
}

/// By region, then sizes, then time; failures last.
std::vector<Measurement> by_time(std::vector<Measurement> list) {
  std::ranges::sort(list, {}, [](const Measurement& m) {
    return std::tuple(m.region, tuner::to_string(m.sizes), m.verdict != Verdict::ok, m.median_ps, m.config);
  });
  return list;
}

std::string outcome_text(const Measurement& m) {
  if (m.verdict == Verdict::ok)
    return fmt::format("{} +- {}, {} samples", microseconds(m.median_ps), microseconds(m.noise_ps),
                       m.samples_ps.size());
  return fmt::format("{}{}{}", name_of(m.verdict), m.message.empty() ? "" : ": ", m.message);
}

void add_provenance(JsonWriter& json, const tuner::Provenance& provenance) {
  json.member("date", provenance.date).member("seed", provenance.seed).member("version", provenance.version);
}

void begin(JsonWriter& json, const char* command, const std::string& cache) {
  json.begin_object().member("schema", 1).member("command", command).member("cache", cache);
}

void add_fields(JsonWriter& json, const CacheEntry& entry) {
  json.key("fields").begin_object();
  for (const tuner::KeyField& field : tuner::kKeyFields) json.member(field.name, entry.fields.*field.value);
  json.end_object();
}

void add_choices(JsonWriter& json, const CacheEntry& entry) {
  json.key("choices").begin_array();
  for (const Choice& choice : entry.choices) {
    json.begin_object().member("region", choice.region).member("config", choice.config);
    add_provenance(json, choice.provenance);
    json.end_object();
  }
  json.end_array();
}

void add_measurements(JsonWriter& json, const CacheEntry& entry) {
  json.key("measurements").begin_array();
  for (const Measurement& m : entry.measurements) {
    json.begin_object().member("region", m.region).member("config", m.config).key("sizes").begin_object();
    for (const auto& [name, value] : m.sizes) json.member(name, value);
    json.end_object().member("verdict", name_of(m.verdict)).member("message", m.message);
    json.member("median_ps", m.median_ps).member("noise_ps", m.noise_ps).member("samples_ps", m.samples_ps);
    add_provenance(json, m.provenance);
    json.end_object();
  }
  json.end_array();
}

const std::string* region_of(const api::Record& record) {
  if (const auto* choice = std::get_if<Choice>(&record.content)) return &choice->region;
  if (const auto* measurement = std::get_if<Measurement>(&record.content)) return &measurement->region;
  return nullptr;
}

}  // namespace

std::string list_text(const std::vector<CacheEntry>& entries) {
  std::string text = fmt::format("{} key{}\n", entries.size(), entries.size() == 1 ? "" : "s");
  for (const CacheEntry& entry : entries)
    text += fmt::format("{} of program {}: {}, {}, {}: {} chosen, {} measured, {} failed\n", brief(entry.key),
                        brief(entry.program), entry.fields.target, entry.fields.device, entry.fields.date,
                        entry.choices.size(), entry.measurements.size(), count_failures(entry));
  return text;
}

std::string list_json(const std::string& cache, const std::vector<CacheEntry>& entries) {
  JsonWriter json;
  begin(json, "cache list", cache);
  json.key("keys").begin_array();
  for (const CacheEntry& entry : entries) {
    json.begin_object().member("program", entry.program).member("key", entry.key);
    json.member("target", entry.fields.target).member("device", entry.fields.device);
    json.member("date", entry.fields.date).member("choices", entry.choices.size());
    json.member("measurements", entry.measurements.size()).member("failures", count_failures(entry)).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

std::string show_text(const std::vector<CacheEntry>& entries) {
  std::string text;
  for (const CacheEntry& entry : entries) {
    text += fmt::format("key {}\n", entry.key);
    for (const tuner::KeyField& field : tuner::kKeyFields)
      if (const std::string& value = entry.fields.*field.value; !value.empty())
        text += fmt::format("  {} ({}): {}\n", field.name, name_of(field.field_class), value);
    for (const Choice& choice : entry.choices)
      text += fmt::format("  chosen for {}: {}\n", region_text(choice.region), choice.config);
    for (const Measurement& m : by_time(entry.measurements))
      text += fmt::format("  measured for {} at {}: {}: {}\n", region_text(m.region), tuner::to_string(m.sizes),
                          m.config, outcome_text(m));
  }
  return text.empty() ? "no keys\n" : text;
}

std::string show_json(const std::string& cache, const std::vector<CacheEntry>& entries) {
  JsonWriter json;
  begin(json, "cache show", cache);
  json.key("keys").begin_array();
  for (const CacheEntry& entry : entries) {
    json.begin_object().member("program", entry.program).member("key", entry.key);
    add_fields(json, entry);
    add_choices(json, entry);
    add_measurements(json, entry);
    json.end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

std::string record_title(const api::Record& record) {
  const std::string key = brief(record.key);
  const std::string* const region = region_of(record);
  if (region == nullptr) return fmt::format("key {} of program {}", key, brief(record.program));
  if (const auto* m = std::get_if<Measurement>(&record.content))
    return fmt::format("measurement for {} at {} of {} under key {}", region_text(*region), tuner::to_string(m->sizes),
                       m->config, key);
  return fmt::format("choice for {} under key {}", region_text(*region), key);
}

}  // namespace padlock::tools
