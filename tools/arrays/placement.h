#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/arrays/array_file.h"
#include "tools/failure.h"

namespace padlock::tools {

/// Copies the elements of a file to their places for `tensor` in `storage` (tensor.storage_bytes, zeroed), without a
/// second copy of the data. Preconditions: the file has tensor.type and its extents. Failures: `file` if reading fails;
/// `mismatch` if elements with one address differ.
[[nodiscard]] Outcome<void> place_elements(const ArrayFile& file, const lib::TensorInfo& tensor,
                                           std::span<std::byte> storage);

/// Fills storage with values that depend only on the seed, the tensor's index `place`, and the address. Floats are k /
/// 64 with -128 <= k < 128, exact in every type; integers the same k, or 0 to 255; bool 0 or 1.
void fill_random(const lib::TensorInfo& tensor, std::uint64_t seed, std::size_t place, std::span<std::byte> storage);

}  // namespace padlock::tools
