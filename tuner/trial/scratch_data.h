#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/dtype.h"

namespace padlock::tuner {

/// Domain says which values fill inputs.
enum class Domain : std::uint8_t {
  full,   ///< values that break kernels: small numbers, NaNs with payloads, infinities, both zeros, denormals, extremes
  plain,  ///< only small numbers, so that denormals do not slow a timing
};

/// Period in bytes of plain data, which serves only timing.
inline constexpr std::size_t kPlainPeriod = std::size_t{64} << 10;

/// Fills storage, of whole elements, with values of the domain. The same seed gives the same bytes.
void fill_data(std::span<std::byte> storage, ir::DType dtype, Domain domain, std::uint64_t seed);

/// The bits of one value of the full domain.
[[nodiscard]] std::uint64_t scalar_bits(ir::DType dtype, std::uint64_t seed);

}  // namespace padlock::tuner
