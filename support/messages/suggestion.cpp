#include "support/messages/suggestion.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace padlock {
namespace {

// Longer names are not compared: a typing error is unlikely there, and the work grows with the square.
constexpr std::size_t kMostLetters = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_but_for_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

std::optional<std::string_view> only_completion(std::string_view name, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> found;
  if (name.size() < 3) return found;
  for (const std::string_view candidate : candidates) {
    if (!candidate.starts_with(name)) continue;
    if (found || candidate == name) return std::nullopt;
    found = candidate;
  }
  return found;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table, because swaps look two rows back.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> closest_name(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kMostLetters) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate == name || candidate.empty() || candidate.size() > kMostLetters) continue;
    if (equal_but_for_case(name, candidate)) return candidate;
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) > longer / 3) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > longer / 3 || (best && distance >= least)) continue;
    best = candidate;
    least = distance;
  }
  return best ? best : only_completion(name, candidates);
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const auto closest = closest_name(name, candidates);
  return closest ? fmt::format("; did you mean '{}'?", *closest) : std::string();
}

}  // namespace padlock
