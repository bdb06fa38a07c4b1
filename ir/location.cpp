#include "ir/location.h"

namespace padlock::ir {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

SourceSpan span_at(std::string_view source, Location where) {
  constexpr std::size_t kMaxShown = 2000;
  SourceSpan span{where.line, where.column, {}};
  if (where.line == 0) return span;
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < where.line; ++line) {
    const std::size_t newline = source.find('\n', begin);
    if (newline == std::string_view::npos) return span;
    begin = newline + 1;
  }
  std::string_view line = source.substr(begin, source.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  // The caret's indent needs the column to lie in the line.
  if (line.size() <= kMaxShown && where.column <= line.size() + 1) span.source_line = std::string(line);
  return span;
}

}  // namespace padlock::ir
