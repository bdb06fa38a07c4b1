#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/cache_text.h"

namespace padlock::tools {

/// A timed config: picoseconds of one launch, and half the width of their interval.
struct TimedConfig {
  std::string config;
  double median_ps = 0, noise_ps = 0;
  std::optional<Ratio> ratio = {};  ///< its time over the default's; absent: timed alone, which decides nothing
};
struct FailedConfig {
  std::string config, verdict, message;
};

/// One region of sizes on one kind of machine, with its configs.
struct ReportRegion {
  std::string program, machine, region, sizes;  ///< as people read them
  std::string chosen;                           ///< empty: none was
  std::string coverage;                         ///< "18 of 24 configs measured"; empty: not known
  std::string default_config;                   ///< empty: not known
  std::int64_t bytes = 0;                       ///< read and written by one launch; 0: not known
  double copy_ps = 0;                           ///< time of a plain copy of as many bytes; 0: not known
  std::vector<TimedConfig> timed;
  std::vector<FailedConfig> failed;
};

/// Makes one self-contained page of HTML. For each region it has a picture of the configs by bytes per second, or by
/// launches per second if their bytes are not known, and a list of those that failed. Every text is escaped, and cut if
/// it is longer than tuning's own.
[[nodiscard]] std::string report_page(const std::string& cache, const std::vector<ReportRegion>& regions);

}  // namespace padlock::tools
