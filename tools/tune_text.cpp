#include "tools/tune_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/command.h"
#include "tools/json_writer.h"

namespace padlock::tools {
namespace {

constexpr std::size_t kTerminalWidth = 100;

std::string region_text(const std::string& region) { return region.empty() ? "all sizes" : region; }

void write_sizes(JsonWriter& json, const api::Sizes& sizes) {
  json.key("sizes").begin_object();
  for (const auto& [name, value] : sizes) json.member(name, value);
  json.end_object();
}

void write_region(JsonWriter& json, const api::PlannedRegion& planned) {
  json.begin_object().member("region", planned.region);
  write_sizes(json, planned.sizes);
  json.member("notes", planned.notes);
}

int count_failures(const api::TunedRegion& region) {
  return static_cast<int>(std::ranges::count_if(
      region.outcome.measurements, [](const tuner::Measurement& m) { return m.verdict != tuner::Verdict::ok; }));
}

std::string region_lines(const api::TunedRegion& region) {
  const tuner::SearchOutcome& outcome = region.outcome;
  std::string text =
      fmt::format("{}\n  measured at {}\n", region_text(region.planned.region), tuner::to_string(region.planned.sizes));
  for (const std::string& note : region.planned.notes) text += fmt::format("  {}\n", note);
  if (!outcome.config)
    return text + fmt::format("  nothing chosen: {}\n", outcome.interrupted ? "interrupted" : outcome.reason);
  text += fmt::format("  config {}\n  {}", *outcome.config, outcome.reason);
  if (outcome.median_ps > 0) text += fmt::format("; {}", duration_text(outcome.median_ps));
  if (outcome.default_ps > 0) text += fmt::format(", the default {}", duration_text(outcome.default_ps));
  if (const int failures = count_failures(region); failures > 0) text += fmt::format("; {} failed", failures);
  return text + "\n";
}

}  // namespace

std::string duration_text(std::int64_t picoseconds) {
  const auto value = static_cast<double>(picoseconds);
  if (value < 1e6) return fmt::format("{:.0f} ns", value / 1e3);
  if (value < 1e9) return fmt::format("{:.1f} us", value / 1e6);
  return fmt::format("{:.2f} ms", value / 1e9);
}

std::string plan_text(const api::TunePlan& plan) {
  std::string text =
      fmt::format("target\n  {}\nscratch memory\n  at most {} bytes\n", target_summary(plan.target), plan.memory_bytes);
  for (const api::RegionPlan& region : plan.regions) {
    text +=
        fmt::format("{}\n  measured at {}, with {} bytes of scratch memory or more\n",
                    region_text(region.planned.region), tuner::to_string(region.planned.sizes), region.scratch_bytes);
    for (const std::string& note : region.planned.notes) text += fmt::format("  {}\n", note);
    text += fmt::format("  {} of {} configs would be tried\n", region.order.size(), region.candidates.size());
    for (const std::size_t i : region.order) text += fmt::format("    {}\n", region.candidates[i].config);
  }
  return text;
}

std::string plan_json(const std::string& program, const api::TunePlan& plan, std::uint64_t seed) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "tune").member("program", program);
  json.member("dry_run", true).member("target", plan.target).member("seed", seed);
  json.member("memory_bytes", plan.memory_bytes).key("regions").begin_array();
  for (const api::RegionPlan& region : plan.regions) {
    write_region(json, region.planned);
    json.member("scratch_bytes", region.scratch_bytes).member("configs_in_space", region.candidates.size());
    std::vector<std::string> configs;
    for (const std::size_t i : region.order) configs.push_back(region.candidates[i].config);
    json.member("configs", configs).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

std::string tune_text(const api::TuneReport& report, const std::string& cache, std::uint64_t seed) {
  std::string text;
  for (const api::TunedRegion& region : report.regions) text += region_lines(region);
  text += fmt::format("{} tries in {:.1f} s, seed {}, key {}\n", report.trials, report.seconds, seed,
                      report.key.substr(0, 12));
  return text + fmt::format("kept in {}\n", cache);
}

std::string tune_json(const std::string& program, const api::TuneReport& report, const std::string& cache,
                      std::uint64_t seed) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "tune").member("program", program);
  json.member("dry_run", false).member("target", report.target).member("seed", seed);
  json.member("cache", cache).member("key", report.key).key("regions").begin_array();
  for (const api::TunedRegion& region : report.regions) {
    const tuner::SearchOutcome& outcome = region.outcome;
    write_region(json, region.planned);
    if (outcome.config) json.member("config", *outcome.config);
    json.member("reason", outcome.reason).member("was_known", region.was_known);
    json.member("median_ps", outcome.median_ps).member("default_ps", outcome.default_ps);
    json.member("measured", outcome.measurements.size()).member("failed", count_failures(region));
    json.member("trials", outcome.trials).end_object();
  }
  json.end_array().member("trials", report.trials).member("seconds", report.seconds);
  json.member("interrupted", report.interrupted).end_object();
  return std::move(json).take();
}

std::string progress_line(std::size_t region, std::size_t regions, const api::Progress& progress, bool bar,
                          std::size_t width) {
  std::string text;
  if (bar) {
    constexpr int kBar = 20;
    const int done = progress.candidates == 0 ? kBar : kBar * progress.tried / progress.candidates;
    text = fmt::format("[{:#<{}}{:.<{}}] ", "", done, "", kBar - done);
  }
  text +=
      fmt::format("region {} of {}: {} {} of {}, {:.0f} s left", region + 1, regions,
                  progress.racing ? "racing," : "tried", progress.tried, progress.candidates, progress.seconds_left);
  if (!progress.best.empty()) text += fmt::format(", best {} {}", duration_text(progress.best_ps), progress.best);
  return text.substr(0, width);
}

ProgressMeter::ProgressMeter(bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0), last_(std::chrono::steady_clock::now()) {}

ProgressMeter::~ProgressMeter() {
  if (drawn_) fmt::print(stderr, "\r{:{}}\r", "", kTerminalWidth);
}

void ProgressMeter::show(std::size_t region, std::size_t regions, const api::Progress& progress) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000))) return;
  last_ = now;
  const std::string line = progress_line(region, regions, progress, terminal_, terminal_ ? kTerminalWidth : 300);
  if (terminal_)
    fmt::print(stderr, "\r{:<{}}", line, kTerminalWidth);
  else
    fmt::print(stderr, "{}\n", line);
  drawn_ = terminal_;
}

}  // namespace padlock::tools
