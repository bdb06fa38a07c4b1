#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tests/common/rng.h"

namespace padlock::fuzz {

/// Corrupts a text in one to five places: changes, removes, doubles or swaps bytes, inserts a word of `dictionary`,
/// replaces a number by an extreme one, repeats a part many times, or splices in a part of `other`.
[[nodiscard]] std::string mutate(std::string text, std::string_view other, std::span<const std::string_view> dictionary,
                                 testing::Rng& rng);

}  // namespace padlock::fuzz
