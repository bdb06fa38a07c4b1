#pragma once

#include <chrono>
#include <string>

#include "tools/text/json_value.h"

namespace padlock::tools {

/// Prints "12.3 us".
[[nodiscard]] std::string duration_text(std::int64_t picoseconds);

/// Print the reports of padlock_tuner_plan and padlock_tuner_report.
[[nodiscard]] std::string plan_text(const JsonValue& plan);
[[nodiscard]] std::string tune_text(const JsonValue& report);

/// Writes progress to stderr: on a terminal a bar that is redrawn, else one line a second; nothing if quiet.
class ProgressMeter {
 public:
  explicit ProgressMeter(bool quiet);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;
  void show(const padlock_progress& progress);

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// Returns one line of progress, at most `width` characters.
[[nodiscard]] std::string progress_line(const padlock_progress& progress, bool bar, std::size_t width);

}  // namespace padlock::tools
