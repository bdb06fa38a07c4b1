#include "tuner/cache/exchange.h"

#include <fmt/format.h>

#include "tuner/cache/exchange_folder.h"
#include "tuner/cache/record.h"

namespace padlock::tuner {

Result<std::unique_ptr<CacheExchange>> CacheExchange::open(const std::string& url) {
  constexpr std::string_view kFolder = "file://";
  if (url.starts_with(kFolder) && url.substr(kFolder.size()).starts_with('/'))
    return folder_exchange(url.substr(kFolder.size()));
  return invalid_argument(fmt::format("expected file:///FOLDER, found '{}'", printable(url)));
}

}  // namespace padlock::tuner
