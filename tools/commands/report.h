#pragma once

#include <string>
#include <vector>

#include "tools/failure.h"
#include "tools/text/cache_text.h"
#include "tools/text/report_page.h"

namespace padlock::tools {

/// Gathers what a page shows of keys. Of one whose program is among `programs` it has more than the cache says: the
/// program's name, the bytes that it moves, the default config and, with a `copy_device` ("host", "cuda:0"; empty:
/// without), the time of a plain copy of as many bytes there.
[[nodiscard]] Outcome<std::vector<ReportRegion>> report_regions(const lib::Context& context, const CacheKeys& keys,
                                                                const std::vector<lib::Program>& programs,
                                                                const std::string& copy_device);

}  // namespace padlock::tools
