#pragma once

#include <cstdint>

namespace padlock::ir {

/// A place in a program's text, both counted from 1; line 0 where there is no text.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

}  // namespace padlock::ir
