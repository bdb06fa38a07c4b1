#include "tools/text/tune_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/failure.h"
#include "tools/text/cache_text.h"
#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

constexpr std::size_t kTerminalWidth = 100;

std::string notes_lines(const JsonValue& region) {
  std::string text;
  for (const JsonValue& note : region["notes"].items()) text += fmt::format("  {}\n", note.text());
  return text;
}

/// Returns whether the choice is the default, with which the other configs are compared.
bool is_default(const JsonValue& region) {
  for (const std::string& setting : region["ratios"]["ppm"].names())
    if (region["ratios"]["ppm"][setting].integer() != 1'000'000) return false;
  return true;
}

/// Returns in words the regime of the measurements.
std::string regime_words(const std::string& regime) {
  if (regime == "warm") return "with tensors in the last cache (warm)";
  if (regime == "cold") return "with tensors in memory (cold)";
  return "with tensors in the last cache and in memory (both)";
}

/// `interrupted`: tuning stopped in this region.
std::string region_lines(const JsonValue& region, bool interrupted) {
  std::string text =
      fmt::format("{}\n  measured at {}, {}\n{}", region_text(region["region"].text()), sizes_text(region["sizes"]),
                  regime_words(region["regime"].text()), notes_lines(region));
  const std::string& reason = region["reason"].text();
  if (!region["config"].exists())
    return text + fmt::format("  nothing chosen: {}\n", interrupted ? "interrupted" : reason);
  text += fmt::format("  config {}\n  {}", region["config"].text(), reason);
  // The times of the race decided; those of single tries were measured at other moments.
  const std::int64_t median = region["median_ps"].integer();
  if (region["ratios"].exists() && !is_default(region))
    text += fmt::format("; {}", ratios_text(region));
  else if (median > 0)
    text += fmt::format("; {}", duration_text(median));
  if (const std::int64_t failures = region["failed"].integer(); failures > 0)
    text += fmt::format("; {} failed", failures);
  return text + "\n";
}

}  // namespace

std::string duration_text(std::int64_t picoseconds) {
  const auto value = static_cast<double>(picoseconds);
  if (value < 1e6) return fmt::format("{:.0f} ns", value / 1e3);
  if (value < 1e9) return fmt::format("{:.1f} us", value / 1e6);
  return fmt::format("{:.2f} ms", value / 1e9);
}

std::string plan_text(const JsonValue& plan) {
  std::string text = fmt::format("target\n  {}\nscratch memory\n  at most {} bytes\n",
                                 target_summary(plan["target"].text()), plan["memory_bytes"].integer());
  for (const JsonValue& region : plan["regions"].items()) {
    text += fmt::format("{}\n  measured at {}, {}, with {} bytes of scratch memory or more\n{}",
                        region_text(region["region"].text()), sizes_text(region["sizes"]),
                        regime_words(region["regime"].text()), region["scratch_bytes"].integer(), notes_lines(region));
    const auto& configs = region["configs"].items();
    text += fmt::format("  {} of {} configs would be tried\n", configs.size(), region["configs_in_space"].integer());
    for (const JsonValue& config : configs) text += fmt::format("    {}\n", config.text());
  }
  return text;
}

std::string tune_text(const JsonValue& report) {
  std::string text;
  const auto& regions = report["regions"].items();
  for (const JsonValue& region : regions)  // the last region is the one interrupted
    text += region_lines(region, report["interrupted"].truth() && &region == &regions.back());
  text += fmt::format("{} tries in {:.1f} s, seed {}, key {}\n", report["trials"].integer(), report["seconds"].number(),
                      report["seed"].natural(), report["key"].text().substr(0, 12));
  return text + fmt::format("kept in {}\n", report["cache"].text());
}

std::string progress_line(const padlock_progress& progress, bool bar, std::size_t width) {
  std::string text;
  if (bar) {
    // The finished share of the time of all regions, with races and checks.
    constexpr int kBar = 20;
    const double all = progress.seconds + progress.seconds_left;
    const double part = all > 0 ? progress.seconds / all : 0;
    const int done = static_cast<int>(kBar * (progress.region + part) / std::max(progress.region_count, 1));
    text = fmt::format("[{:#<{}}{:.<{}}] ", "", done, "", kBar - done);
  }
  const std::string doing = progress.racing != 0 ? fmt::format("timing the best of {} configs in turn", progress.tried)
                            : progress.tried == 0
                                ? std::string("making data, and trying the default")
                                : fmt::format("tried {} of {} configs", progress.tried, progress.config_count);
  text += fmt::format("region {} of {}: {}, {:.0f} s left", progress.region + 1, progress.region_count, doing,
                      progress.seconds_left);
  if (*progress.best != 0) text += fmt::format(", best {} {}", duration_text(progress.best_picoseconds), progress.best);
  return text.substr(0, width);
}

ProgressMeter::ProgressMeter(bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0), last_(std::chrono::steady_clock::now()) {}

ProgressMeter::~ProgressMeter() {
  if (drawn_) say(fmt::format("\r{:{}}\r", "", kTerminalWidth));
}

void ProgressMeter::show(const padlock_progress& progress) {
  if (quiet_) return;
  if (progress.least_seconds > progress.seconds_left)
    say(fmt::format("region {} of {} needs about {:.2g} s for the default alone, and its budget is {:.2g} s\n",
                    progress.region + 1, progress.region_count, progress.least_seconds, progress.seconds_left));
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000))) return;
  last_ = now;
  const std::string line = progress_line(progress, terminal_, terminal_ ? kTerminalWidth : 300);
  if (terminal_)
    say(fmt::format("\r{:<{}}", line, kTerminalWidth));
  else
    say(fmt::format("{}\n", line));
  drawn_ = terminal_;
}

}  // namespace padlock::tools
