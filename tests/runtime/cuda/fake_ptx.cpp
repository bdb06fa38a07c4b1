#include "tests/runtime/cuda/fake_ptx.h"

#include <charconv>

namespace padlock::runtime::cuda {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Without the comments, which may hold anything.
std::string without_comments(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    std::size_t end = 0;
    if (rest.starts_with("//")) end = rest.find('\n');
    if (rest.starts_with("/*")) end = rest.find("*/");
    if (end == rest.npos) break;
    plain += end == 0 ? text[i] : ' ';
    i += end == 0 || rest[1] == '/' ? end : end + 1;
  }
  return plain;
}

/// Words of 64 bits that a list of parameters holds: one a parameter, and for an array of bytes as many as fill it.
int words_of(std::string_view list) {
  constexpr std::string_view kParameter = ".param";
  int words = 0;
  for (auto at = list.find(kParameter); at != list.npos; at = list.find(kParameter, at + 1)) {
    const std::string_view parameter = list.substr(at, list.find(',', at) - at);
    int bytes = 8;
    if (const auto open = parameter.find('['); open != parameter.npos)
      std::from_chars(parameter.data() + open + 1, parameter.data() + parameter.size(), bytes);
    words += (bytes + 7) / 8;
  }
  return words;
}

}  // namespace

std::optional<std::vector<FakeEntry>> parse_entries(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry";
  const std::string text = without_comments(ptx);
  const std::string_view view = text;
  const auto start = view.find_first_not_of(kBlanks);
  if (start == view.npos || !view.substr(start).starts_with(".version")) return std::nullopt;
  std::vector<FakeEntry> entries;
  for (auto at = view.find(kEntry); at != view.npos; at = view.find(kEntry, at + 1)) {
    const auto name = view.find_first_not_of(kBlanks, at + kEntry.size());
    const auto open = view.find_first_of("({", name);
    const auto close = view.find(')', open);
    if (name == view.npos || open == view.npos || name == open) return std::nullopt;
    FakeEntry entry;
    entry.name = view.substr(name, view.find_first_of(" \t\r\n({", name) - name);
    if (view[open] == '(') {
      if (close == view.npos) return std::nullopt;
      entry.parameters = words_of(view.substr(open, close - open));
    }
    const auto body = view.substr(open, view.find(kEntry, open) - open);
    entry.waits = body.find("griddepcontrol.wait") != body.npos;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace padlock::runtime::cuda
