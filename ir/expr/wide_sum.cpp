#include "ir/expr/wide_sum.h"

namespace padlock::ir {

namespace {
UInt128 absolute(Int128 v) { return v < 0 ? -static_cast<UInt128>(v) : static_cast<UInt128>(v); }
}  // namespace

void WideSum::add_product(Int128 a, Int128 b) {
  const bool negative = (a < 0) != (b < 0);
  const UInt128 x = absolute(a), y = absolute(b);
  const auto low = [](UInt128 v) { return static_cast<std::uint64_t>(v); };
  const auto high = [](UInt128 v) { return static_cast<std::uint64_t>(v >> 64); };
  add(UInt128{low(x)} * low(y), 0, negative);
  add(UInt128{low(x)} * high(y), 1, negative);
  add(UInt128{high(x)} * low(y), 1, negative);
  add(UInt128{high(x)} * high(y), 2, negative);
}

// Adds or subtracts word_pair * 2^(64 * limb); a carry runs to the top.
void WideSum::add(UInt128 word_pair, std::size_t limb, bool negative) {
  std::array<std::uint64_t, 5> other{};
  other[limb] = static_cast<std::uint64_t>(word_pair);
  other[limb + 1] = static_cast<std::uint64_t>(word_pair >> 64);
  UInt128 carry = negative ? 1 : 0;  // -v is ~v + 1
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    carry += UInt128{limbs_[i]} + (negative ? ~other[i] : other[i]);
    limbs_[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

std::optional<Int128> WideSum::value() const {
  const auto low = static_cast<Int128>(UInt128{limbs_[1]} << 64 | limbs_[0]);
  const std::uint64_t sign = low < 0 ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 2; i < limbs_.size(); ++i)
    if (limbs_[i] != sign) return std::nullopt;
  return low;
}

}  // namespace padlock::ir
