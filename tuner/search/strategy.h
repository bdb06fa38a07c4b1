#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

// The configs that a search tries, and their order.
namespace padlock::tuner {

enum class Strategy : std::uint8_t {
  fast,    ///< configs that a cost model finds promising, then a race among the best
  full,    ///< all, then the race
  random,  ///< all in a seeded random order until the budget ends, then the race
};
[[nodiscard]] Result<Strategy> strategy_from_name(std::string_view name);
[[nodiscard]] std::string_view name_of(Strategy strategy);

/// A config to try, with the cost model's facts about it.
struct Candidate {
  std::string config;
  double predicted_ns = 0;
  bool past_caches = false;  ///< its stores go past the caches, or are the first to leave them
};

/// The model is coarse: a config predicted this much slower than the best may still be the best.
inline constexpr double kPromising = 1.6;

/// Returns the configs that a search would try, in order.
[[nodiscard]] std::vector<std::size_t> order_of_trials(const std::vector<Candidate>& candidates, Strategy strategy,
                                                       std::uint64_t seed);

}  // namespace padlock::tuner
