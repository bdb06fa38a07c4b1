#pragma once

#include <chrono>
#include <string>

#include "api/tuning.h"

namespace padlock::tools {

/// "12.3 us".
[[nodiscard]] std::string duration_text(std::int64_t picoseconds);

[[nodiscard]] std::string plan_text(const api::TunePlan& plan);
[[nodiscard]] std::string tune_text(const api::TuneReport& report, const std::string& cache, std::uint64_t seed);

/// Writes progress to stderr: a bar that is drawn over on a terminal, else one line a second; nothing if quiet.
class ProgressMeter {
 public:
  explicit ProgressMeter(bool quiet);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;
  void show(std::size_t region, std::size_t regions, const api::Progress& progress);

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// One line of it, at most `width` characters.
[[nodiscard]] std::string progress_line(std::size_t region, std::size_t regions, const api::Progress& progress,
                                        bool bar, std::size_t width);

}  // namespace padlock::tools
