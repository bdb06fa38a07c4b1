#pragma once

#include <cstdint>
#include <string_view>

#include "support/error.h"

namespace padlock::ir {

/// A place in a program's text, both counted from 1; line 0 where there is no text.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Returns the text without the byte order mark that editors on other systems write.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Returns a location with the text of its line, for an Error. A line too long to show is left out.
[[nodiscard]] SourceSpan span_at(std::string_view source, Location where);

}  // namespace padlock::ir
