#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

namespace padlock::python {

/// Writes lists of integers as rows of `width` numbers at `numbers`, with the fill to the right or left of each. Writes
/// 1 for a number and 0 for a fill at `mask`, unless that is 0. Both are addresses of as many rows. Returns false, with
/// the rows in any state, for something that is not a list, a longer list, or an item that is not an `int` of 64 bits.
[[nodiscard]] bool collate_lists(nanobind::list sequences, std::int64_t width, bool is_left, std::int64_t fill,
                                 std::uintptr_t numbers, std::uintptr_t mask);

}  // namespace padlock::python
