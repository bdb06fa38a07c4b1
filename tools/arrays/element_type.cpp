#include "tools/arrays/element_type.h"

#include <cstring>

namespace padlock::tools {

std::string element_text(DLDataType type, const std::byte* element) {
  const auto text = lib::print_scalar(type, element_bits(type, element));
  return text ? std::string(text->view()) : std::string(text.error().message());
}

std::uint64_t element_bits(DLDataType type, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<std::size_t>(byte_size(type)));
  return bits;
}

}  // namespace padlock::tools
