#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "support/error.h"
#include "tuner/exchange/budget.h"
#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

/// Names the environment's variable with the password for a place that has none, as redis-cli does.
inline constexpr const char* kRedisPasswordVariable = "REDISCLI_AUTH";

/// Exports as fields of one hash, "padlock:exports:v1", of a Redis or Valkey server. It is connected to when it is
/// needed first, and given up for good once a call has failed. All calls together take `patience`, and the bytes and
/// elements of ExchangeBudget, at most, whatever the server does. `place`: "[[USER]:PASSWORD@]HOST[:PORT]", user and
/// password with %XX for what is not to be read otherwise. Error: invalid_argument.
[[nodiscard]] Result<std::unique_ptr<CacheExchange>> redis_exchange(
    std::string_view place, std::chrono::microseconds patience = ExchangeBudget::kTime);

}  // namespace padlock::tuner
