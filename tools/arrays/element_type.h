#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/failure.h"

namespace padlock::tools {

// Element types are the library's, their names the language's.
[[nodiscard]] inline int byte_size(DLDataType type) { return type.bits / 8; }
[[nodiscard]] inline bool is_same(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits; }

/// Returns an element as a literal of the language.
[[nodiscard]] std::string element_text(DLDataType type, const std::byte* element);
/// Returns its bits. Hosts are little-endian (x86-64), so the low bytes come first.
[[nodiscard]] std::uint64_t element_bits(DLDataType type, const std::byte* element);

}  // namespace padlock::tools
