#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/dtype.h"

namespace padlock::tuner {

/// Domain says what inputs are filled with.
enum class Domain : std::uint8_t {
  full,  ///< what breaks kernels: beside small numbers, NaNs with payloads, infinities, both zeros, denormals, extremes
  plain,  ///< small numbers alone, so that times are not those of denormals
};

/// Bytes after which plain data repeats itself: it serves timing alone.
inline constexpr std::size_t kPlainPeriod = std::size_t{64} << 10;

/// Fills storage, of whole elements, with values of the domain. The same seed gives the same bytes.
void fill_data(std::span<std::byte> storage, ir::DType dtype, Domain domain, std::uint64_t seed);

/// The bits of one value of the full domain.
[[nodiscard]] std::uint64_t scalar_bits(ir::DType dtype, std::uint64_t seed);

}  // namespace padlock::tuner
