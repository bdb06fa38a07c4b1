#pragma once

#include <cstddef>
#include <span>

namespace padlock::runtime {

/// Returns whether the bytes are an ELF file for NVIDIA's GPUs whose headers and sections all lie within them: a driver
/// is given an address alone, and believes the offsets that it finds there. What the sections hold is not looked at.
[[nodiscard]] bool is_whole_cubin(std::span<const std::byte> bytes);

}  // namespace padlock::runtime
