#include "tools/text/cache_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/json_writer.h"
#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

constexpr double kSlower = 1.005;  // times the default's time, as in the search

/// Returns a setting as words: "warm and then read" for "warm_then_read".
std::string words_of(const std::string& setting) {
  const std::size_t read = setting.find("_then_read");
  return read == std::string::npos ? setting : setting.substr(0, read) + " and then read";
}

std::string brief(const std::string& hash) { return hash.substr(0, 12); }

bool failed(const JsonValue& measurement) { return measurement["verdict"].text() != "ok"; }

std::int64_t count_failures(const JsonValue& key) { return std::ranges::count_if(key["measurements"].items(), failed); }

std::string microseconds(std::int64_t picoseconds) {
  return fmt::format("{:.3f} us", static_cast<double>(picoseconds) / 1e6);
}

/// Prints the sizes, and the regime after them: "B=4 (warm)".
std::string state_text(const JsonValue& m) {
  return fmt::format("{} ({})", sizes_text(m["sizes"]), m["regime"].text());
}

/// Sorts by region, sizes, regime, and then by the deciding figure: configs that raced with the default by the ratio of
/// times, the others by time. Failures come last.
CacheKeys by_time(const std::vector<JsonValue>& measurements) {
  CacheKeys list;
  for (const JsonValue& m : measurements) list.push_back(&m);
  std::ranges::sort(list, {}, [](const JsonValue* m) {
    const std::optional<Ratio> ratio = ratio_of(*m);
    return std::tuple((*m)["region"].text(), state_text(*m), failed(*m), !ratio, ratio ? ratio->value : 0,
                      (*m)["median_ps"].integer(), (*m)["config"].text());
  });
  return list;
}

/// `raced`: whether the record says which configs raced; earlier versions' records do not.
std::string outcome_text(const JsonValue& m, bool raced) {
  if (!failed(m)) {
    const std::string samples = fmt::format("{} +- {}, {} samples", microseconds(m["median_ps"].integer()),
                                            microseconds(m["noise_ps"].integer()), m["samples_ps"].items().size());
    if (ratio_of(m)) return fmt::format("{}; {}", ratios_text(m), samples);
    return raced ? "timed alone: " + samples : samples;
  }
  const std::string& message = m["message"].text();
  return fmt::format("{}{}{}", m["verdict"].text(), message.empty() ? "" : ": ", message);
}

void add_provenance(JsonWriter& json, const JsonValue& record) {
  json.member("date", record["date"].text()).member("seed", record["seed"].natural());
  json.member("version", record["version"].text());
}

void begin(JsonWriter& json, const char* command, const std::string& cache) {
  json.begin_object().member("schema", 1).member("command", command).member("cache", cache);
}

void add_fields(JsonWriter& json, const JsonValue& key) {
  json.key("fields").begin_object();
  for (const JsonValue& f : key["fields"].items()) json.member(f["name"].text(), f["value"].text());
  json.end_object();
}

void add_choices(JsonWriter& json, const JsonValue& key) {
  json.key("choices").begin_array();
  for (const JsonValue& choice : key["choices"].items()) {
    json.begin_object().member("region", choice["region"].text()).member("regime", choice["regime"].text());
    json.member("config", choice["config"].text());
    for (const char* name : {"measured", "candidates"})
      if (choice[name].exists()) json.member(name, choice[name].integer());
    add_provenance(json, choice);
    json.end_object();
  }
  json.end_array();
}

void add_ratios(JsonWriter& json, const JsonValue& m) {
  if (!m["ratios"].exists()) return;
  json.key("ratios").begin_object();
  for (const char* member : {"ppm", "noise_ppm"}) {
    json.key(member).begin_object();
    for (const std::string& setting : m["ratios"][member].names())
      json.member(setting, m["ratios"][member][setting].integer());
    json.end_object();
  }
  json.end_object();
}

void add_measurements(JsonWriter& json, const JsonValue& key) {
  json.key("measurements").begin_array();
  for (const JsonValue& m : key["measurements"].items()) {
    json.begin_object().member("region", m["region"].text()).member("regime", m["regime"].text());
    json.member("config", m["config"].text());
    json.key("sizes").begin_object();
    for (const std::string& name : m["sizes"].names()) json.member(name, m["sizes"][name].integer());
    json.end_object().member("verdict", m["verdict"].text()).member("message", m["message"].text());
    std::vector<std::int64_t> samples;
    for (const JsonValue& sample : m["samples_ps"].items()) samples.push_back(sample.integer());
    json.member("median_ps", m["median_ps"].integer()).member("noise_ps", m["noise_ps"].integer());
    json.member("samples_ps", samples);
    add_ratios(json, m);
    add_provenance(json, m);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::optional<Ratio> ratio_of(const JsonValue& measured) {
  const JsonValue& medians = measured["ratios"]["ppm"];
  if (medians.names().empty()) return std::nullopt;
  Ratio ratio;
  double logarithms = 0, squares = 0, worst = kSlower;
  for (const std::string& setting : medians.names()) {
    const double value = std::max(static_cast<double>(medians[setting].integer()), 1.0) / 1e6;
    const double noise = static_cast<double>(measured["ratios"]["noise_ppm"][setting].integer()) / 1e6;
    logarithms += std::log(value);
    squares += noise * noise;
    if (value - noise <= worst) continue;
    worst = value - noise;
    ratio.slower_in = words_of(setting);
  }
  const auto settings = static_cast<double>(medians.names().size());
  ratio.value = std::exp(logarithms / settings);
  ratio.noise = std::sqrt(squares) / settings;
  return ratio;
}

std::string ratios_text(const JsonValue& measured) {
  std::string text;
  const JsonValue& ratios = measured["ratios"];
  for (const std::string& setting : ratios["ppm"].names())
    text += fmt::format("{}{:.3f} +- {:.3f} {}", text.empty() ? "" : ", ",
                        static_cast<double>(ratios["ppm"][setting].integer()) / 1e6,
                        static_cast<double>(ratios["noise_ppm"][setting].integer()) / 1e6, words_of(setting));
  return text.empty() ? text : text + " of the default's time";
}

std::string key_field(const JsonValue& key, std::string_view name) {
  for (const JsonValue& f : key["fields"].items())
    if (f["name"].text() == name) return f["value"].text();
  return {};
}

std::string coverage_text(const JsonValue& choice) {
  if (!choice["measured"].exists()) return {};
  return fmt::format("{} of {} configs measured", choice["measured"].integer(), choice["candidates"].integer());
}

std::string list_text(const CacheKeys& keys) {
  std::string text = fmt::format("{} key{}\n", keys.size(), keys.size() == 1 ? "" : "s");
  for (const JsonValue* key : keys)
    text += fmt::format("{} of program {}: {}, {}, {}: {} chosen, {} measured, {} failed\n",
                        brief((*key)["key"].text()), brief((*key)["program"].text()), key_field(*key, "target"),
                        key_field(*key, "device"), key_field(*key, "date"), (*key)["choices"].items().size(),
                        (*key)["measurements"].items().size(), count_failures(*key));
  return text;
}

std::string list_json(const std::string& cache, const CacheKeys& keys) {
  JsonWriter json;
  begin(json, "cache list", cache);
  json.key("keys").begin_array();
  for (const JsonValue* key : keys) {
    json.begin_object().member("program", (*key)["program"].text()).member("key", (*key)["key"].text());
    for (const char* name : {"target", "device", "date"}) json.member(name, key_field(*key, name));
    json.member("choices", (*key)["choices"].items().size());
    json.member("measurements", (*key)["measurements"].items().size());
    json.member("failures", count_failures(*key)).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

std::string show_text(const CacheKeys& keys) {
  std::string text;
  for (const JsonValue* key : keys) {
    text += fmt::format("key {}\n", (*key)["key"].text());
    for (const JsonValue& f : (*key)["fields"].items())
      if (const std::string& value = f["value"].text(); !value.empty())
        text += fmt::format("  {} ({}): {}\n", f["name"].text(), f["class"].text(), value);
    for (const JsonValue& choice : (*key)["choices"].items()) {
      const std::string coverage = coverage_text(choice);
      text += fmt::format("  chosen for {} ({}): {}{}\n", region_text(choice["region"].text()), choice["regime"].text(),
                          choice["config"].text(), coverage.empty() ? "" : " (" + coverage + ")");
    }
    const auto& measurements = (*key)["measurements"].items();
    const bool raced = std::ranges::any_of(measurements, [](const JsonValue& m) { return ratio_of(m).has_value(); });
    for (const JsonValue* m : by_time(measurements))
      text += fmt::format("  measured for {} at {}: {}: {}\n", region_text((*m)["region"].text()), state_text(*m),
                          (*m)["config"].text(), outcome_text(*m, raced));
  }
  return text.empty() ? "no keys\n" : text;
}

std::string show_json(const std::string& cache, const CacheKeys& keys) {
  JsonWriter json;
  begin(json, "cache show", cache);
  json.key("keys").begin_array();
  for (const JsonValue* key : keys) {
    json.begin_object().member("program", (*key)["program"].text()).member("key", (*key)["key"].text());
    add_fields(json, *key);
    add_choices(json, *key);
    add_measurements(json, *key);
    json.end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

}  // namespace padlock::tools
