#pragma once

#include <cstddef>
#include <vector>

// Shared by the body and the maker of inputs for packs: valid metadata, and the code that it describes, which is never
// run.
namespace padlock::fuzz {

[[nodiscard]] const std::vector<std::byte>& sample_pack();
/// Returns the sample's metadata, without header, code and checksum.
[[nodiscard]] std::vector<std::byte> sample_metadata();
/// Makes a pack with this metadata and the sample's code, with correct sizes and checksum.
[[nodiscard]] std::vector<std::byte> sealed_pack(std::vector<std::byte> metadata);

}  // namespace padlock::fuzz
