#pragma once

#include <string>
#include <string_view>

namespace padlock::tuner {

// XXH3, as lower-case hexadecimal digits. It finds damage and tells programs apart: 128 bits make an accident
// impossible. It stops no forger, and need not: who can write a cache could write any record, and records are hints
// that are checked wherever they are used.

[[nodiscard]] std::string hash128(std::string_view text);  ///< 32 digits
[[nodiscard]] std::string hash64(std::string_view text);   ///< 16 digits

}  // namespace padlock::tuner
