#include "tuner/search/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <utility>

namespace padlock::tuner {
namespace {

constexpr std::array kStrategyNames = {std::string_view("fast"), std::string_view("full"), std::string_view("random")};

constexpr double kAlike = 1.01;
constexpr std::size_t kMostPromising = 24;

}  // namespace

std::string_view name_of(Strategy strategy) { return kStrategyNames.at(static_cast<std::size_t>(strategy)); }

Result<Strategy> strategy_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kStrategyNames, name);
  if (found == kStrategyNames.end())
    return invalid_argument(fmt::format("expected fast, full or random, found '{}'", name));
  return static_cast<Strategy>(found - kStrategyNames.begin());
}

std::vector<std::size_t> order_of_trials(const std::vector<Candidate>& candidates, Strategy strategy,
                                         std::uint64_t seed) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() < 2 || strategy == Strategy::full) return order;
  const auto others = order.begin() + 1;  // the default stays first
  if (strategy == Strategy::random) {
    std::mt19937_64 random(seed);
    // std::shuffle differs between standard libraries.
    for (auto i = order.size() - 1; i > 1; --i) std::swap(order[i], order[1 + random() % i]);
    return order;
  }
  const auto predicted = [&](std::size_t i) { return candidates[i].predicted_ns; };
  std::stable_sort(others, order.end(), [&](std::size_t a, std::size_t b) { return predicted(a) < predicted(b); });
  const double limit = kPromising * std::min(predicted(0), predicted(order[1]));
  const auto end = std::find_if(others, order.end(), [&](std::size_t i) { return predicted(i) > limit; });
  order.erase(end, order.end());
  // The model finds many configs alike. Take the first of each kind, then the second of each, and so on.
  std::map<std::size_t, int> place;  // within its kind
  for (std::size_t i = 1, first = 1; i < order.size(); ++i) {
    if (predicted(order[i]) > kAlike * predicted(order[first])) first = i;
    place[order[i]] = static_cast<int>(i - first);
  }
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  if (order.size() > kMostPromising) order.resize(kMostPromising);
  return order;
}

}  // namespace padlock::tuner
