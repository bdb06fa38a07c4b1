#pragma once

#include <memory>
#include <string>

#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

/// Opens exports as files of a folder, which must exist. Each file appears whole. An unfinished file of a killed writer
/// is not an export.
[[nodiscard]] std::unique_ptr<CacheExchange> folder_exchange(std::string folder);

}  // namespace padlock::tuner
