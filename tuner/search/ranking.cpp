#include "tuner/search/ranking.h"

#include <algorithm>

#include "tuner/trial/measure.h"

namespace padlock::tuner {
namespace {

// Margin of a tie before the last heat: a config slightly behind may still turn out to tie.
constexpr double kTieMargin = 2 * kTie;
// How far two tries at different times may differ, beside the noise that each shows, and the limit of both together.
constexpr double kFirstNoise = 0.25;
constexpr double kFarBehind = 0.5;
constexpr double kAnyNoise = 1e9;

}  // namespace

bool Ranking::survives(std::size_t index) const {
  const auto found = measured.find(index);
  return found != measured.end() && found->second.verdict == Verdict::ok && !suspects.contains(index);
}

bool Ranking::other_survives() const {
  return std::ranges::any_of(measured, [this](const auto& m) { return m.first != 0 && survives(m.first); });
}

std::vector<std::size_t> Ranking::finalists(std::size_t most) const {
  std::map<std::optional<bool>, std::size_t> best;  // index of the best config of each kind
  std::vector<std::pair<double, std::size_t>> order;
  for (const auto& [index, m] : measured) {
    if (!may_win(index)) continue;
    const std::optional<bool> kind = kind_of(index);
    if (!best.contains(kind)) best[kind] = *fastest(kind);
    const double ratio = behind(index, best[kind]);
    if (index == 0 || index == best[kind])
      order.emplace_back(0, index);
    else if (ratio - noise_of(index, best[kind]) <= 1 + kTie)
      order.emplace_back(std::max(ratio, 1 + kTieMargin), index);
  }
  std::ranges::sort(order);
  std::vector<std::size_t> list;
  for (const auto& [ratio, index] : order)
    if (list.size() < most) list.push_back(index);
  std::ranges::sort(list);
  return list;
}

/// Returns whether a config survived and does not clearly lose to the default. After a race it must also have been in
/// the last heat, as long as a config of that heat survives.
bool Ranking::may_win(std::size_t index) const {
  return survives(index) && (race.empty() || race.contains(index)) && !race.loses(index, kAnyNoise);
}

/// Returns whether a config's stores go past the caches; nullopt after a race. The first round, in one setting, does
/// not tell how configs of the two kinds compare.
std::optional<bool> Ranking::kind_of(std::size_t index) const {
  return race.empty() ? std::optional(candidates_[index].past_caches) : std::nullopt;
}

std::optional<std::size_t> Ranking::fastest(std::optional<bool> past_caches) const {
  std::optional<std::size_t> best;
  for (const auto& [index, m] : measured)
    if (may_win(index) && (!past_caches || kind_of(index) == past_caches) && (!best || time_of(index) < time_of(*best)))
      best = index;
  return best;
}

/// Returns picoseconds.
double Ranking::time_of(std::size_t index) const {
  if (!race.empty()) return race.time_of(index);
  return static_cast<double>(lower_quartile(measured.at(index).samples_ps));
}

/// Returns a config's time divided by the best one's.
double Ranking::behind(std::size_t index, std::size_t best) const {
  return race.empty() ? time_of(index) / std::max(time_of(best), 1.0) : race.ratio(index, best);
}

/// Returns how far that ratio may be wrong.
double Ranking::noise_of(std::size_t index, std::size_t best) const {
  if (!race.empty()) return race.noise(index, best);
  const Measurement& m = measured.at(index);
  const double own = static_cast<double>(m.noise_ps) / static_cast<double>(std::max<std::int64_t>(m.median_ps, 1));
  return std::min(kFarBehind, 2 * own + kFirstNoise);
}

bool Ranking::in_doubt() const {
  const std::optional<std::size_t> best = fastest();
  if (!best || *best == 0 || !race.contains(0)) return false;
  const double ratio = behind(0, *best);
  return ratio > 1 + kTie && ratio - noise_of(0, *best) <= 1 + kTie;
}

std::optional<std::size_t> Ranking::winner() const {
  std::vector<std::size_t> list;
  for (const auto& [index, m] : measured)
    if (may_win(index) && !race.loses(index, kTie)) list.push_back(index);
  if (list.empty()) return std::nullopt;
  const std::size_t best = *std::ranges::min_element(list, {}, [this](std::size_t i) { return time_of(i); });
  if (list.front() == 0 && (race.empty() || behind(0, best) - noise_of(0, best) <= 1 + kTie)) return 0;
  return *std::ranges::find_if(list, [&](std::size_t i) { return behind(i, best) <= 1 + kTie; });
}

}  // namespace padlock::tuner
