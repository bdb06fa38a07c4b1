#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

// Which configs a search tries, and in which order.
namespace padlock::tuner {

enum class Strategy : std::uint8_t {
  fast,    ///< those that a cost model finds promising, then a race among the best
  full,    ///< all, then the race
  random,  ///< all in an order that the seed decides, as far as the budget goes, then the race
};
[[nodiscard]] Result<Strategy> strategy_from_name(std::string_view name);
[[nodiscard]] std::string_view name_of(Strategy strategy);

/// A config that may be tried, with what the cost model says of it.
struct Candidate {
  std::string config;
  double predicted_ns = 0;
  bool past_caches = false;  ///< its stores go past the caches, or are the first to leave them
};

/// The model is coarse: what it finds up to so much slower than the best may yet be the best.
inline constexpr double kPromising = 1.6;

/// Those that a search would try, in the order in which it does.
[[nodiscard]] std::vector<std::size_t> order_of_trials(const std::vector<Candidate>& candidates, Strategy strategy,
                                                       std::uint64_t seed);

}  // namespace padlock::tuner
