#include "support/int128.h"

#include <algorithm>

namespace padlock {

std::string to_string(Int128 value) {
  const bool negative = value < 0;
  UInt128 magnitude = negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace padlock
