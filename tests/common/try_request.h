#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tuner/trial/request.h"

namespace padlock::testing {

/// A request that tries a config as quickly as possible: few samples, one thread. The caller may change any member.
[[nodiscard]] inline tuner::TryRequest quick_request(std::string program, std::map<std::string, std::int64_t> symbols,
                                                     std::string device = "host", std::string config = {}) {
  return {.program = std::move(program),
          .device = std::move(device),
          .target = {},
          .config = std::move(config),
          .symbols = std::move(symbols),
          .threads = 1,
          .time_limit_ms = 20'000,
          .policy = {.warm_up_ms = 0.1, .sample_us = 1, .rotation_bytes = 1 << 18, .max_samples = 9, .budget_ms = 5}};
}

}  // namespace padlock::testing
