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
  std::string reason;  // where the config is from
  const RunOutputs& outputs;
  const std::vector<ExpectReport>& expects;
  std::optional<std::uint64_t> seed;  // where an input was random
  double milliseconds = 0;            // of the launch
};

/// The config that served a call, and where it is from.
[[nodiscard]] std::string config_text(const std::string& config, const std::string& reason);

[[nodiscard]] std::string report_text(const RunReport& report);
[[nodiscard]] std::string report_json(const RunReport& report);

}  // namespace padlock::tools
