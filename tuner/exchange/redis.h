#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "support/error.h"
#include "tuner/exchange/budget.h"
#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

/// The environment variable with the password for a place without one, as for redis-cli.
inline constexpr const char* kRedisPasswordVariable = "REDISCLI_AUTH";

/// Opens exports as fields of one hash, "padlock:exports:v1", on a Redis or Valkey server. Connects on first use, and
/// gives up for good after a failed call. All calls together take at most `patience`, and the bytes and elements of
/// ExchangeBudget. `place`: "[[USER]:PASSWORD@]HOST[:PORT]"; user and password write reserved characters as %XX. Error:
/// invalid_argument.
[[nodiscard]] Result<std::unique_ptr<CacheExchange>> redis_exchange(
    std::string_view place, std::chrono::microseconds patience = ExchangeBudget::kTime);

}  // namespace padlock::tuner
