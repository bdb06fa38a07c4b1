#include "onnx/printable.h"

#include <cstdint>

namespace padlock::onnx {
namespace {

/// Returns the size in bytes of the character at the beginning of a text; 0 for bytes that are not UTF-8: overlong
/// forms, surrogates and values above 0x10ffff among them.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const std::uint8_t first = byte(0), second = byte(1);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool fits = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f);
    return fits && continues(1) && continues(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool fits = !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
  return fits && continues(1) && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) result += '?';
    result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace padlock::onnx
