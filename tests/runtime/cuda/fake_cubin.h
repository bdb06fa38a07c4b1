#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace padlock::runtime::cuda {

/// Bytes of a fake cubin before its text.
inline constexpr std::size_t kFakeCubinHead = 128;

/// Makes a fake cubin: an ELF file for NVIDIA's GPUs with one section. The section has PTX, which the fake driver
/// reads, and a zero byte at the end.
inline std::vector<std::byte> fake_cubin(std::string_view ptx) {
  std::vector<std::byte> bytes(kFakeCubinHead + ptx.size() + 1);
  const auto put = [&](std::size_t offset, unsigned value) {
    bytes[offset] = static_cast<std::byte>(value);
    bytes[offset + 1] = static_cast<std::byte>(value >> 8);
  };
  constexpr std::size_t kSection = 64;  // the offset of its section header
  for (const std::size_t i : {0, 1, 2, 3, 4, 5})
    bytes[i] = static_cast<std::byte>(
        "\x7F"
        "ELF\x02\x01"[i]);
  put(18, 190);
  put(40, kSection);
  put(58, 64);
  put(60, 1);
  put(kSection + 4, 1);
  put(kSection + 24, kFakeCubinHead);
  put(kSection + 32, static_cast<unsigned>(ptx.size() + 1));
  std::ranges::transform(ptx, bytes.begin() + kFakeCubinHead, [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

}  // namespace padlock::runtime::cuda
