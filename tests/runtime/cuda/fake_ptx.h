#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace padlock::runtime::cuda {

/// An entry point as a PTX text declares it.
struct FakeEntry {
  std::string name;
  int parameters = 0;  ///< words of 64 bits
  bool waits = false;  ///< for the work before it in its stream
};

/// The entry points of a PTX text; nullopt, where it does not begin with a .version, or an entry has no name or no end.
std::optional<std::vector<FakeEntry>> parse_entries(std::string_view ptx);

}  // namespace padlock::runtime::cuda
