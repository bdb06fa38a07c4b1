#pragma once

#include <cstddef>
#include <vector>

// What the body and the maker of inputs of fuzzed packs share: valid metadata, and the code that it speaks of, which
// nobody runs.
namespace padlock::fuzz {

[[nodiscard]] const std::vector<std::byte>& sample_pack();
/// Of that pack, without header, code and checksum.
[[nodiscard]] std::vector<std::byte> sample_metadata();
/// A pack with this metadata and the sample's code, whose sizes and checksum are right.
[[nodiscard]] std::vector<std::byte> sealed_pack(std::vector<std::byte> metadata);

}  // namespace padlock::fuzz
