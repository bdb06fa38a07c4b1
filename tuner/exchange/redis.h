#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "support/error.h"
#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

/// Names the environment's variable with the password for a place that has none, as redis-cli does.
inline constexpr const char* kRedisPasswordVariable = "REDISCLI_AUTH";

/// Exports as fields of one hash, "padlock:exports:v1", of a Redis or Valkey server. It is connected to when it is
/// needed first, and given up for good once a call has failed. Waiting for it takes at most `patience` in all, and what
/// slow answers are allowed: a microsecond a byte and 20 ms a call. `place`: "[[USER]:PASSWORD@]HOST[:PORT]", user and
/// password with %XX for what is not to be read otherwise. Errors: invalid_argument; unimplemented where this build has
/// no client.
[[nodiscard]] Result<std::unique_ptr<CacheExchange>> redis_exchange(
    std::string_view place, std::chrono::microseconds patience = std::chrono::seconds(5));

}  // namespace padlock::tuner
