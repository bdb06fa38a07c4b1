#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/arrays/run_outputs.h"

namespace padlock::tools {

/// The results of a run; all borrowed.
struct RunReport {
  std::string program, device;
  std::string config;  // empty on the reference
  std::string reason;  // the origin of the config
  const RunOutputs& outputs;
  const std::vector<ExpectReport>& expects;
  std::optional<std::uint64_t> seed;  // set if an input was random
  double milliseconds = 0;            // time of the launch
};

/// Prints the config of a call, and its origin.
[[nodiscard]] std::string config_text(const std::string& config, const std::string& reason);

[[nodiscard]] std::string report_text(const RunReport& report);
[[nodiscard]] std::string report_json(const RunReport& report);

}  // namespace padlock::tools
