#include "tools/commands/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "support/cpu_cache.h"
#include "support/statistics.h"
#include "support/stopwatch.h"
#include "tools/arrays/bench_arrays.h"
#include "tools/text/json_value.h"
#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

constexpr double kSampleSeconds = 200e-6, kCopySeconds = 0.5;
constexpr std::size_t kMostSamples = 31;

/// Returns the picoseconds of one copy: the median of samples of at least kSampleSeconds each, after an untimed copy.
/// The memory is in no cache, as while tuning. Returns 0 if there is no memory for it.
double copy_time(const lib::Context& context, const std::string& device, std::int64_t bytes) {
  auto copy = PlainCopy::create(context, device, bytes, bytes_beyond_caches());
  if (!copy || !copy->run()) return 0;
  std::vector<double> samples;
  const Stopwatch all;
  while (samples.size() < kMostSamples && (samples.empty() || all.seconds() < kCopySeconds)) {
    const Stopwatch watch;
    int runs = 0;
    do
      if (++runs; !copy->run()) return 0;
    while (watch.seconds() < kSampleSeconds);
    samples.push_back(watch.seconds() * 1e12 / runs);
  }
  return median(samples);
}

/// Programs by fingerprint.
using Texts = std::map<std::string, lib::Program>;

Outcome<Texts> by_fingerprint(const std::vector<lib::Program>& programs) {
  Texts texts;
  for (const lib::Program& program : programs) {
    const auto json = program.explain();
    if (!json) return fail(ExitCode::mismatch, json.error());
    PADLOCK_TRY(const auto explanation, JsonValue::parse(json->view()));
    texts.emplace(explanation["fingerprint"].text(), program);
  }
  return texts;
}

/// Adds the program's facts about these sizes; none if this machine cannot compute them.
void add_facts(ReportRegion& region, const lib::Program& program, const JsonValue& key, const JsonValue& sizes) {
  region.program = program.name();
  lib::Binding binding;
  binding.unplaced = true;
  for (const std::string& name : sizes.names()) binding.dims.set(name, sizes[name].integer());
  lib::CompileOptions options;
  const std::string target = key_field(key, "target");
  const bool on_host = target == "host";
  if (!on_host) options = {.device = "simt", .target = target};
  const auto json = program.explain(options, &binding);
  if (!json) return;
  const auto explanation = JsonValue::parse(json->view());
  if (!explanation) return;
  // The record may be another CPU's, whose default may differ.
  if (!on_host || (*explanation)["target"].text() == key_field(key, "cpu"))
    region.default_config = (*explanation)["config"].text();
  for (const char* list : {"inputs", "results"})
    for (const JsonValue& tensor : (*explanation)[list].items())
      region.bytes += tensor["storage_bytes"]["value"].integer();
}

void add_choice(ReportRegion& shown, const JsonValue& key, const JsonValue& measurement) {
  for (const JsonValue& choice : key["choices"].items())
    if (choice["region"].text() == measurement["region"].text() &&
        choice["regime"].text() == measurement["regime"].text()) {
      shown.chosen = choice["config"].text();
      shown.coverage = coverage_text(choice);
    }
}

void add_measurement(ReportRegion& region, const JsonValue& m) {
  const std::string& config = m["config"].text();
  if (const std::string& verdict = m["verdict"].text(); verdict != "ok")
    region.failed.push_back({config, verdict, m["message"].text()});
  else
    region.timed.push_back({config, m["median_ps"].number(), m["noise_ps"].number(), ratio_of(m)});
}

ReportRegion begin_region(const JsonValue& key, const JsonValue& measurement) {
  ReportRegion region;
  region.program = "program " + key["program"].text().substr(0, 12);
  region.machine =
      fmt::format("{}, {}, {}", key_field(key, "target"), key_field(key, "device"), key_field(key, "date"));
  region.region = region_text(measurement["region"].text());
  region.sizes = fmt::format("{} ({})", sizes_text(measurement["sizes"]), measurement["regime"].text());
  add_choice(region, key, measurement);
  return region;
}

}  // namespace

Outcome<std::vector<ReportRegion>> report_regions(const lib::Context& context, const CacheKeys& keys,
                                                  const std::vector<lib::Program>& programs,
                                                  const std::string& copy_device) {
  PADLOCK_TRY(const Texts texts, by_fingerprint(programs));
  std::vector<ReportRegion> regions;
  for (const JsonValue* key : keys) {
    std::map<std::pair<std::string, std::string>, std::size_t> places;  // keys are region, and sizes with regime
    for (const JsonValue& m : (*key)["measurements"].items()) {
      const auto [place, is_new] =
          places.try_emplace({m["region"].text(), sizes_text(m["sizes"]) + " " + m["regime"].text()}, regions.size());
      if (is_new) {
        ReportRegion& region = regions.emplace_back(begin_region(*key, m));
        if (const auto text = texts.find((*key)["program"].text()); text != texts.end())
          add_facts(region, text->second, *key, m["sizes"]);
        if (region.bytes > 1 && !copy_device.empty()) region.copy_ps = copy_time(context, copy_device, region.bytes);
      }
      add_measurement(regions[place->second], m);
    }
  }
  return regions;
}

}  // namespace padlock::tools
