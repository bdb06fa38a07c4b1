#pragma once

#include <array>
#include <optional>

#include "support/int128.h"

namespace padlock::ir {

/// An exact sum of products of 128-bit integers, in 320 bits: room for 2^62 of them.
class WideSum {
 public:
  explicit WideSum(Int128 value) { add_product(1, value); }
  void add_product(Int128 a, Int128 b);
  /// Returns the sum if it fits 128 bits, else nullopt.
  [[nodiscard]] std::optional<Int128> value() const;

 private:
  void add(UInt128 word_pair, std::size_t limb, bool negative);
  std::array<std::uint64_t, 5> limbs_{};  // two's complement, least significant first
};

}  // namespace padlock::ir
