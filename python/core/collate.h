#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

namespace padlock::python {

/// Writes lists of integers as rows of `width` numbers at `numbers`, with the fill beside each on its right or left,
/// and 1 for each of its own and 0 beside it at `mask`, unless that is 0. Both are addresses of as many rows. Returns
/// false, and leaves the rows in any state, where something is no list, is longer, or has an item that is no `int` of
/// 64 bits.
[[nodiscard]] bool collate_lists(nanobind::list sequences, std::int64_t width, bool is_left, std::int64_t fill,
                                 std::uintptr_t numbers, std::uintptr_t mask);

}  // namespace padlock::python
