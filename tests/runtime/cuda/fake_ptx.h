#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace padlock::runtime::cuda {

/// An entry point that a PTX text declares.
struct FakeEntry {
  std::string name;
  int parameters = 0;  ///< 64-bit words
  bool waits = false;  ///< for earlier work in its stream
};

/// Returns the entry points of a PTX text; nullopt if it does not begin with a .version, or an entry has no name or no
/// end.
std::optional<std::vector<FakeEntry>> parse_entries(std::string_view ptx);

}  // namespace padlock::runtime::cuda
