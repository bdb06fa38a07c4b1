#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tests/common/rng.h"

namespace padlock::fuzz {

/// Spoils a text in one to five places: bytes changed, removed, doubled or swapped, a word of `dictionary` put in, a
/// number replaced by an extreme one, a part repeated many times, a part of `other` spliced in.
[[nodiscard]] std::string mutate(std::string text, std::string_view other, std::span<const std::string_view> dictionary,
                                 testing::Rng& rng);

}  // namespace padlock::fuzz
