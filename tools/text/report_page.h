#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/cache_text.h"

namespace padlock::tools {

/// A config that was timed, by the picoseconds of one launch and half the width of their interval.
struct TimedConfig {
  std::string config;
  double median_ps = 0, noise_ps = 0;
  std::optional<Ratio> ratio = {};  ///< its time over the default's; absent: it was timed alone, which decides nothing
};
struct FailedConfig {
  std::string config, verdict, message;
};

/// One region of sizes on one kind of machine: its configs, and what is known of each.
struct ReportRegion {
  std::string program, machine, region, sizes;  ///< for people
  std::string chosen;                           ///< empty: nothing was
  std::string coverage;                         ///< how many configs were measured; empty: not known
  std::string default_config;                   ///< empty: not known
  std::int64_t bytes = 0;                       ///< that one launch reads and writes; 0: not known
  double copy_ps = 0;                           ///< of a plain copy of as many bytes; 0: not known
  std::vector<TimedConfig> timed;
  std::vector<FailedConfig> failed;
};

/// One page of HTML that needs nothing else: for each region a picture of its configs by bytes a second, or by launches
/// a second where their bytes are not known, and a list of those that failed. Every text is escaped, and cut where it
/// is longer than what tuning makes.
[[nodiscard]] std::string report_page(const std::string& cache, const std::vector<ReportRegion>& regions);

}  // namespace padlock::tools
