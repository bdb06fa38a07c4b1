#include "tools/tune_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/command.h"

namespace padlock::tools {
namespace {

constexpr std::size_t kTerminalWidth = 100;

std::string region_text(const std::string& region) { return region.empty() ? "all sizes" : region; }

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
  if (const int failures = region.failed(); failures > 0) text += fmt::format("; {} failed", failures);
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

std::string tune_text(const api::TuneReport& report, const std::string& cache, std::uint64_t seed) {
  std::string text;
  for (const api::TunedRegion& region : report.regions) text += region_lines(region);
  text += fmt::format("{} tries in {:.1f} s, seed {}, key {}\n", report.trials, report.seconds, seed,
                      report.key.substr(0, 12));
  return text + fmt::format("kept in {}\n", cache);
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
