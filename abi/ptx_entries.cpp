#include "abi/ptx_entries.h"

#include <algorithm>

namespace padlock::abi {
namespace {

/// The text with which LLVM begins an entry, at the beginning of a line.
constexpr std::string_view kEntry = "\n.visible .entry ";

/// Returns the directives at the beginning of a text, up to the end of the last one's line; empty if there are none.
std::string_view head_of(std::string_view text) {
  const std::size_t last = text.find(".address_size");
  if (last == std::string_view::npos) return {};
  return text.substr(0, std::min(text.find('\n', last), text.size() - 1) + 1);
}

/// Returns the end of the function body that begins at or after `begin`: the position after its closing brace, or the
/// text's end if there is none.
std::size_t end_of_body(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = text.find_first_of("{}", begin); at != std::string_view::npos;
       at = text.find_first_of("{}", at + 1)) {
    depth += text[at] == '{' ? 1 : -1;
    if (depth <= 0) return at + 1;
  }
  return text.size();
}

/// Returns the name of the entry that begins at `at`.
std::string_view name_of_entry(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at + kEntry.size());
  return rest.substr(0, rest.find('('));
}

}  // namespace

void append_ptx(std::string& text, std::string_view other) {
  text += text.empty() ? other : other.substr(head_of(other).size());
}

bool has_ptx_entry(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at + 1))
    if (name_of_entry(text, at) == name) return true;
  return false;
}

std::optional<std::string> ptx_of_entry(std::string_view text, std::string_view name) {
  if (!has_ptx_entry(text, name)) return std::nullopt;
  std::string only;
  std::size_t copied = 0;
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at)) {
    const std::size_t end = end_of_body(text, at);
    if (name_of_entry(text, at) != name) {
      only += text.substr(copied, at - copied);
      copied = end;
    }
    at = end;
  }
  return only + std::string(text.substr(copied));
}

}  // namespace padlock::abi
