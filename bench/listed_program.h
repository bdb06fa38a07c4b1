#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::bench {

/// A program in the language, and the sizes that it is timed at.
struct ListedProgram {
  std::string name;
  std::string text;
  std::map<std::string, std::int64_t> sizes;  ///< by symbol
};

/// Reads a list of programs, one a line: "NAME ; A=8 B=100 ; program ...". Empty lines and those that begin with '#'
/// are comments. The programs are not parsed. Error: invalid_argument, naming the line and what was expected in it.
[[nodiscard]] Result<std::vector<ListedProgram>> parse_listed_programs(std::string_view text);

}  // namespace padlock::bench
