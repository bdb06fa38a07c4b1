#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Valid programs that ask for as much work as a text can. Each family repeats one construct until the text has a given
// length, so that the growth of a pass with it can be counted.
namespace padlock::testing {

struct HostileFamily {
  std::string_view name;
  std::string (*text)(std::size_t bytes);  ///< a program of at most about this many bytes
};

[[nodiscard]] std::span<const HostileFamily> hostile_families();

}  // namespace padlock::testing
