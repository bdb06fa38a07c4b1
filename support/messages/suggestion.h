#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// "Did you mean": one mechanism for every name that a caller gives and that there is not.
namespace padlock {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate that `name` most likely stands for, or nullopt: one that differs in case alone, else the
/// closest within a third of the longer name's length, else the only one that `name`, of three letters or more, begins.
/// The first of equally close ones.
[[nodiscard]] std::optional<std::string_view> closest_name(std::string_view name,
                                                           std::span<const std::string_view> candidates);

/// Returns "; did you mean 'pad'?", to stand behind a message, or "" if no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);
template <std::ranges::input_range Names>
[[nodiscard]] std::string did_you_mean(std::string_view name, const Names& candidates) {
  const std::vector<std::string_view> views(std::ranges::begin(candidates), std::ranges::end(candidates));
  return did_you_mean(name, std::span<const std::string_view>(views));
}

}  // namespace padlock
