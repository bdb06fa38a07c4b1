#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "support/error.h"
#include "tuner/cache/exchange.h"

namespace padlock::tuner {

/// Exports as fields of one hash, "padlock:exports:v1", of a Redis or Valkey server. It is connected to when it is
/// needed first, and given up for good once a call has failed. Waiting for it takes at most `patience` in all, and what
/// slow answers are allowed: a microsecond a byte and 20 ms a call. `place`: HOST or HOST:PORT. Errors:
/// invalid_argument; unimplemented where this build has no client.
[[nodiscard]] Result<std::unique_ptr<CacheExchange>> redis_exchange(
    std::string_view place, std::chrono::microseconds patience = std::chrono::seconds(5));

}  // namespace padlock::tuner
