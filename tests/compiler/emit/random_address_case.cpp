#include "tests/compiler/emit/address_case.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace padlock::compiler {
namespace {

using testing::Rng;

constexpr Int128 kMaxStorage = Int128{1} << 47;
constexpr Int128 kDefaultBound = Int128{1} << 40;  // of a dim that no constraint bounds

struct ElementType {
  const char* name;
  int bytes;
};
constexpr std::array kTypes = {ElementType{"i8", 1},  ElementType{"u8", 1},   ElementType{"i16", 2},
                               ElementType{"f16", 2}, ElementType{"bf16", 2}, ElementType{"i32", 4},
                               ElementType{"f32", 4}, ElementType{"f64", 8}};
constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};

/// About 2^exponent, and no power of two.
Int128 about(int exponent, Rng& rng) {
  const std::int64_t whole = std::int64_t{1} << exponent;
  return std::max<std::int64_t>(1, whole - rng.between(0, whole / 3));
}

Int128 random_pad(Int128 n, Rng& rng) {
  const auto extent = static_cast<std::int64_t>(std::min<Int128>(n, kDefaultBound));
  switch (rng.between(0, 8)) {
    case 0:
    case 1:
    case 2:
      return 0;
    case 3:
      return rng.between(1, 70);
    case 4:
      return -rng.between(0, std::min<std::int64_t>(70, extent - 1));
    case 5:
      return -rng.between(0, extent / 2);
    case 6:
      return rng.between(0, extent);
    default:
      return rng.between(1, 3) * extent + rng.between(-2, 2);
  }
}

/// Each stride is what the axes inside it need, in a random order of the axes, with a gap now and then.
void choose_strides(AddressCase& c, Rng& rng) {
  std::vector<std::size_t> order(c.extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool transposed = rng.chance(50);
  for (std::size_t i = order.size(); transposed && i-- > 1;)
    std::swap(order[i], order[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i)))]);
  c.strides.resize(order.size());
  Int128 next = rng.chance(20) ? rng.between(2, 5) : 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    c.strides[order[i]] = next;
    next = next * c.extents[order[i]] + (rng.chance(60) ? rng.between(1, 200) : 0);
  }
}

void choose_slice(AddressCase& c, Rng& rng) {
  const Wide n = c.sliced_extents();
  for (const Int128 extent : n) {
    const std::int64_t start = rng.chance(50) ? rng.between(0, static_cast<std::int64_t>(extent / 2)) : 0;
    c.start.push_back(start);
    c.limit.push_back(rng.chance(50) ? extent : rng.between(start + 1, static_cast<std::int64_t>(extent)));
    c.step.push_back(rng.chance(60) ? 1 : rng.between(2, 7));
  }
}

void choose_pads(AddressCase& c, Rng& rng) {
  const bool interior = c.mode == "constant" && rng.chance(25);
  const Wide n = c.sliced_extents();
  for (const Int128 extent : n) {
    c.low.push_back(random_pad(extent, rng));
    c.high.push_back(random_pad(extent, rng));
    if (interior) c.interior.push_back(rng.between(0, 3));
  }
}

AddressCase draw_case(Rng& rng) {
  AddressCase c;
  const ElementType type = rng.pick(kTypes);
  c.type = type.name;
  c.element_bytes = type.bytes;
  c.mode = rng.pick(kModes);
  const auto rank = static_cast<int>(rng.between(1, 4));
  auto exponent = static_cast<int>(rng.between(28, 46));
  for (int axis = 0; axis < rank; ++axis) {
    const int share = axis + 1 == rank ? exponent : static_cast<int>(rng.between(0, exponent));
    c.extents.push_back(about(share, rng));
    exponent -= share;
  }
  for (int i = rank; i-- > 1;)
    std::swap(c.extents[static_cast<std::size_t>(i)], c.extents[static_cast<std::size_t>(rng.between(0, i))]);
  if (rng.chance(60)) choose_strides(c, rng);
  if (rank > 1 && rng.chance(30)) {
    for (int i = 0; i < rank; ++i) c.perm.push_back((i + 1) % rank);
    if (rng.chance(50)) std::ranges::reverse(c.perm);
  }
  if (rng.chance(35)) choose_slice(c, rng);
  choose_pads(c, rng);
  if (rng.chance(30)) {
    c.concat_axis = static_cast<int>(rng.between(0, rank - 1));
    c.tail = about(static_cast<int>(rng.between(0, 20)), rng);
    c.tail_first = rng.chance(50);
  }
  return c;
}

bool is_wanted(const AddressCase& c) {
  for (const Int128 n : c.padded_extents())
    if (n < 1) return false;
  Int128 largest = 0;
  for (const int buffer : {0, 2}) largest = std::max(largest, c.storage_bytes(buffer));
  if (c.concat_axis >= 0 && c.storage_bytes(1) >= kMaxStorage) return false;
  return largest > (Int128{1} << 31) && largest < kMaxStorage;
}

}  // namespace

AddressCase random_address_case(Rng& rng) {
  for (;;) {
    AddressCase c = draw_case(rng);
    if (!is_wanted(c)) continue;
    c.name = fmt::format("{} {} of {} axes", c.mode, c.type, c.extents.size());
    return c;
  }
}

}  // namespace padlock::compiler
