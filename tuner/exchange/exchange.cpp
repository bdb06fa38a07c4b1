#include "tuner/exchange/exchange.h"

#include <fmt/format.h>

#include "tuner/cache/record.h"
#include "tuner/exchange/folder.h"
#include "tuner/exchange/redis.h"

namespace padlock::tuner {

Result<std::unique_ptr<CacheExchange>> CacheExchange::open(const std::string& url) {
  constexpr std::string_view kFolder = "file://";
  if (url.starts_with(kFolder) && url.substr(kFolder.size()).starts_with('/'))
    return folder_exchange(url.substr(kFolder.size()));
  constexpr std::string_view kServer = "redis://";
  if (url.starts_with(kServer)) return redis_exchange(std::string_view(url).substr(kServer.size()));
  if (url.starts_with("rediss://"))
    return std::unexpected(Error{Code::unimplemented, Blame::user,
                                 "rediss:// is not spoken: a Redis server is reached in the clear, as redis://HOST"});
  return invalid_argument(fmt::format("expected file:///FOLDER or redis://HOST[:PORT], found '{}'", printable(url)));
}

}  // namespace padlock::tuner
