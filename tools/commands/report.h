#pragma once

#include <string>
#include <vector>

#include "tools/failure.h"
#include "tools/text/cache_text.h"
#include "tools/text/report_page.h"

namespace padlock::tools {

/// Collects the contents of a page about keys. For a program among `programs` it adds the program's name, the bytes
/// that it moves, and the default config. With `copy_device` ("host", "cuda:0"; empty: none) it adds the time of a
/// plain copy of as many bytes there.
[[nodiscard]] Outcome<std::vector<ReportRegion>> report_regions(const lib::Context& context, const CacheKeys& keys,
                                                                const std::vector<lib::Program>& programs,
                                                                const std::string& copy_device);

}  // namespace padlock::tools
