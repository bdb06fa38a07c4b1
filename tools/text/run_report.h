#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/arrays/run_outputs.h"

namespace padlock::tools {

/// RunReport holds what a run has to tell. All borrowed.
struct RunReport {
  std::string program, device;
  std::string config;  // empty on the reference
  const RunOutputs& outputs;
  const std::vector<ExpectReport>& expects;
  std::optional<std::uint64_t> seed;  // where an input was random
  double milliseconds = 0;            // of the launch
};

[[nodiscard]] std::string report_text(const RunReport& report);
[[nodiscard]] std::string report_json(const RunReport& report);

}  // namespace padlock::tools
