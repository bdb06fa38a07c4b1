#pragma once

#include <cstddef>
#include <span>

namespace padlock::runtime {

/// Returns whether the bytes are an ELF file for NVIDIA's GPUs whose headers and sections all lie within them. A driver
/// only gets an address, and believes the offsets in the file. Does not look at the sections' contents.
[[nodiscard]] bool is_whole_cubin(std::span<const std::byte> bytes);

}  // namespace padlock::runtime
