// A build without a client of Redis, in place of exchange_redis.cpp.

#include "tuner/exchange/redis.h"

namespace padlock::tuner {

Result<std::unique_ptr<CacheExchange>> redis_exchange(std::string_view, std::chrono::microseconds) {
  return std::unexpected(
      Error{Code::unimplemented, Blame::user, "this build reaches no Redis server (PADLOCK_REDIS is off)"});
}

}  // namespace padlock::tuner
