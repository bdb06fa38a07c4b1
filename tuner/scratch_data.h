#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/dtype.h"

namespace padlock::tuner {

/// What inputs are filled with.
enum class Domain : std::uint8_t {
  full,  ///< what breaks kernels: beside small numbers, NaNs with payloads, infinities, both zeros, denormals, extremes
  plain,  ///< small numbers alone, so that times are not those of denormals
};

/// Fills storage, of whole elements, with values of the domain. The same seed gives the same bytes.
void fill_data(std::span<std::byte> storage, ir::DType dtype, Domain domain, std::uint64_t seed);

/// The bits of one value of the full domain.
[[nodiscard]] std::uint64_t scalar_bits(ir::DType dtype, std::uint64_t seed);

/// Numbers without an end, the same for the same seed on every machine (SplitMix64, Steele and others, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace padlock::tuner
