#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/dtype.h"
#include "tests/common/rng.h"

namespace padlock::differential {

/// Draws the bits of a value of that type among those that break kernels: values half way between neighbours of the
/// narrower float types and one last bit to either side, NaNs with payloads (signalling ones too), infinities,
/// denormals, signed zeros, extremes, and plain small numbers. A bool is a byte, mostly 0 or 1.
[[nodiscard]] std::uint64_t random_bits(ir::DType dtype, testing::Rng& rng);

/// Fills storage (any alignment) with such values.
void fill_random(std::span<std::byte> storage, ir::DType dtype, testing::Rng& rng);

/// Draws a literal of the language for that type.
[[nodiscard]] std::string random_literal(ir::DType dtype, testing::Rng& rng);

}  // namespace padlock::differential
