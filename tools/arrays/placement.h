#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/arrays/array_file.h"
#include "tools/failure.h"

namespace padlock::tools {

/// Puts the elements of a file where `tensor` has them in `storage` (tensor.storage_bytes, zeroed), without a second
/// copy of the data. Preconditions: the file holds tensor.type and has its extents. Failures: `file` where reading
/// fails; `mismatch` where elements that share an address differ.
[[nodiscard]] Outcome<void> place_elements(const ArrayFile& file, const lib::TensorInfo& tensor,
                                           std::span<std::byte> storage);

/// Fills storage with values that depend on the seed, the tensor's place and the address alone: floats are k / 64 with
/// -128 <= k < 128, exact in every type; integers the same k, or 0 to 255; bool 0 or 1.
void fill_random(const lib::TensorInfo& tensor, std::uint64_t seed, std::size_t place, std::span<std::byte> storage);

}  // namespace padlock::tools
