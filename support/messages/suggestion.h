#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// "Did you mean": one mechanism for every unknown name that a caller gives.
namespace padlock {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate that `name` most likely means, or nullopt. First a candidate that differs only in case. Else
/// the closest one within a third of the longer name's length. Else the only one that begins with `name`, if that has
/// three letters or more. Among equally close ones the first.
[[nodiscard]] std::optional<std::string_view> closest_name(std::string_view name,
                                                           std::span<const std::string_view> candidates);

/// Returns "; did you mean 'pad'?" for the end of a message, or "" if no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);
template <std::ranges::input_range Names>
[[nodiscard]] std::string did_you_mean(std::string_view name, const Names& candidates) {
  const std::vector<std::string_view> views(std::ranges::begin(candidates), std::ranges::end(candidates));
  return did_you_mean(name, std::span<const std::string_view>(views));
}

}  // namespace padlock
