#pragma once

#include <cstddef>
#include <span>

#include "bench/pad_case.h"

namespace padlock::bench {

/// Bytes that are numbers of both signs in every type, none zero, subnormal, infinite or NaN, and repeat with a prime
/// period, so that an element from elsewhere shows.
void fill_with_noise(std::span<std::byte> data);

/// Compares a result with what the language defines, element by element: nothing is timed that is not right.
/// Precondition: the pads of `spec` are numbers, and the spans large enough. Error: internal, with the first byte that
/// differs.
[[nodiscard]] Status check_result(const PadSpec& spec, std::span<const std::byte> input,
                                  std::span<const std::byte> result);

}  // namespace padlock::bench
