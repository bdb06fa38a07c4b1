#pragma once

#include <cstdint>
#include <vector>

#include "bench/pad_case.h"

namespace padlock::bench {

/// Rows of 1 to 64 bytes, in arrays of so many bytes together: a pad of one element on each side in every mode that
/// others have, a crop by one, images with their three channels innermost, and the transposition of a short axis. In
/// four types.
[[nodiscard]] std::vector<PadSpec> short_rows(std::int64_t bytes);

}  // namespace padlock::bench
