#include "abi/ptx_parts.h"

#include <algorithm>

namespace padlock::abi {
namespace {

constexpr std::string_view kLargePart = "\n// Variants for sizes that do not fit 32 bits.\n";

/// The directives that every text begins with, to the end of the last one's line. Empty where it has none.
std::string_view head_of(std::string_view text) {
  const std::size_t last = text.find(".address_size");
  if (last == std::string_view::npos) return {};
  return text.substr(0, std::min(text.find('\n', last), text.size() - 1) + 1);
}

}  // namespace

std::string join_ptx(const PtxParts& parts) {
  std::string text = parts.usual;
  if (parts.large.empty()) return text;
  text += kLargePart;
  text += std::string_view(parts.large).substr(head_of(parts.large).size());
  return text;
}

PtxParts split_ptx(std::string_view text) {
  const std::size_t end = text.find(kLargePart);
  PtxParts parts{.usual = std::string(text.substr(0, end)), .large = {}};
  if (end == std::string_view::npos) return parts;
  parts.large = head_of(parts.usual);
  parts.large += text.substr(end + kLargePart.size());
  return parts;
}

}  // namespace padlock::abi
