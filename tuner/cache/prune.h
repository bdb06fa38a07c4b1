#pragma once

#include <string_view>
#include <vector>

#include "tuner/cache/record.h"

namespace padlock::tuner {

/// Returns whether a record's key is of this build: of its revisions, its LLVM and its way of measuring. Another
/// build's records are of no use to this one, in any match.
[[nodiscard]] bool is_of_build(const KeyFields& recorded, const KeyFields& build);

/// The places of the records that serve nobody: of another build than `build` (describe_build), of a key that is not
/// there, dated before `before` ("2026-01-31", empty: none is), and keys of which nothing else is left.
[[nodiscard]] std::vector<Place> stale_places(const std::vector<Record>& records, const KeyFields& build,
                                              std::string_view before);

}  // namespace padlock::tuner
