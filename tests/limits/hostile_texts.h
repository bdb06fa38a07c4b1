#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Valid programs that take as much work as a text can. Each family repeats one construct up to a given length of the
// text, so that the growth of a pass can be counted.
namespace padlock::testing {

struct HostileFamily {
  std::string_view name;
  std::string (*text)(std::size_t bytes);  ///< returns a program of at most about this many bytes
};

[[nodiscard]] std::span<const HostileFamily> hostile_families();

}  // namespace padlock::testing
