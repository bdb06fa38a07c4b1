#pragma once

#include <memory>
#include <string>

#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

/// Exports as files of a folder, each of which appears whole; the folder has to be there. A file that a writer left
/// unfinished when it was killed is nobody's export.
[[nodiscard]] std::unique_ptr<CacheExchange> folder_exchange(std::string folder);

}  // namespace padlock::tuner
