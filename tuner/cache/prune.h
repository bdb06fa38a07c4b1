#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tuner/cache/rows.h"

namespace padlock::tuner {

/// Returns whether a record's key is of this build: of its revisions, its LLVM and its way of measuring. Another
/// build's records are of no use to this one, in any match.
[[nodiscard]] bool is_of_build(const KeyFields& recorded, const KeyFields& build);

/// Says of each row whether its record serves nobody: it is of another build than `build` (describe_build), of a key
/// that is not there, dated before `before` ("2026-01-31", empty: none is), or a key of which nothing else is left. The
/// rows were looked at.
[[nodiscard]] std::vector<bool> stale_rows(std::span<const Row> rows, const KeyFields& build, std::string_view before);

}  // namespace padlock::tuner
