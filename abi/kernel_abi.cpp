#include "abi/kernel_abi.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace padlock::abi {

Divisor Divisor::of(std::uint64_t d, int bits) {
  Divisor made;
  made.shift = std::min(bits - 1, static_cast<int>(std::bit_width(d - 1)));
  const UInt128 excess = (UInt128{1} << made.shift) - d;
  made.multiplier = static_cast<std::uint64_t>((excess << bits) / d + 1);
  return made;
}

std::uint64_t Divisor::divide(std::uint64_t n, int bits) const {
  const auto high = static_cast<std::uint64_t>((UInt128{n} * multiplier) >> bits);
  return (high + n) >> shift;
}

std::string_view name_of(Assumption a) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(kLastAssumption)> kNames = {
      "index32", "offset32",  "few_tiles",  "in_range", "" /* of older packs */, "few_vectors", "narrow_output",
      "boxes",   "row_table", "many_edges", "no_edges"};
  return kNames.at(static_cast<std::size_t>(a) - 1);
}

std::vector<Guard> guards_of(std::span<const Guard> guards, Assumption what) {
  std::vector<Guard> found;
  std::ranges::copy_if(guards, std::back_inserter(found), [&](const Guard& guard) { return guard.assumption == what; });
  return found;
}

bool assumes(std::span<const Guard> guards, Assumption what) {
  return std::ranges::find(guards, what, &Guard::assumption) != guards.end();
}

}  // namespace padlock::abi
