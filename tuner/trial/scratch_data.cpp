#include "tuner/trial/scratch_data.h"

#include <algorithm>
#include <cstring>

#include "ir/reference/numeric.h"
#include "runtime/host/in_parallel.h"
#include "support/split_mix.h"

namespace padlock::tuner {
namespace {

using ir::DType;

constexpr std::int64_t kPart = std::int64_t{4} << 20;  // bytes that one thread fills at a time

std::uint64_t ones(int count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

/// Returns a number of either sign, 1 to 15/8 times 1/2 to 4: exact in every float type.
std::uint64_t small_float(ir::FloatFormat format, std::uint64_t random) {
  const auto exponent = static_cast<std::uint64_t>(format.bias() - 1) + (random >> 3 & 3);
  const std::uint64_t fraction = (random & 7) << (format.fraction_bits - 3);
  return (random >> 5 & 1) << format.sign_shift() | exponent << format.fraction_bits | fraction;
}

std::uint64_t special_float(ir::FloatFormat format, std::uint64_t random) {
  const std::uint64_t sign = (random >> 8 & 1) << format.sign_shift();
  const std::uint64_t payload = random >> 9 & format.fraction_mask();
  switch (random & 7) {
    case 0:
      return sign;  // zero
    case 1:
      return sign | format.infinity();
    case 2:
      return sign | format.infinity() | 1;  // a signalling NaN
    case 3:
      return sign | format.quiet_nan() | payload;
    case 4:
      return sign | 1;  // the least denormal
    case 5:
      return sign | payload;  // a denormal
    case 6:
      return sign | (format.infinity() - 1);  // the greatest finite number
    default:
      return sign | std::uint64_t{1} << format.fraction_bits;  // the least normal one
  }
}

std::uint64_t special_integer(DType dtype, std::uint64_t random) {
  const int width = ir::bit_width(dtype);
  switch (random & 3) {
    case 0:
      return ones(width);
    case 1:
      return ones(width - 1);
    case 2:
      return std::uint64_t{1} << (width - 1);
    default:
      return random >> 2 & ones(width);
  }
}

std::uint64_t value_of(DType dtype, Domain domain, std::uint64_t random) {
  const bool special = domain == Domain::full && random >> 60 < 4;  // a quarter
  // Data movement copies any byte of a bool; other operations read any but 0 as true.
  if (dtype == DType::boolean) return special ? random & 0xff : random & 1;
  if (ir::is_float(dtype)) {
    const ir::FloatFormat format = ir::format_of(dtype);
    return special ? special_float(format, random) : small_float(format, random);
  }
  return special ? special_integer(dtype, random) : (random % 41 - 20) & ones(ir::bit_width(dtype));
}

}  // namespace

void fill_data(std::span<std::byte> storage, DType dtype, Domain domain, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(ir::byte_size(dtype));
  const std::size_t drawn = domain == Domain::plain ? std::min(storage.size(), kPlainPeriod) : storage.size();
  const runtime::PartsOf parts{.all = static_cast<std::int64_t>(drawn), .part = kPart};
  runtime::in_parallel(parts.count(), [&](std::int64_t part) {
    const auto begin = static_cast<std::size_t>(parts.begin(part));
    const std::size_t end = begin + static_cast<std::size_t>(parts.size(part));
    SplitMix random(seed);
    random.skip(begin / size);
    for (std::size_t at = begin; at < end; at += size) {
      const std::uint64_t bits = value_of(dtype, domain, random.next());
      std::memcpy(storage.data() + at, &bits, size);  // little-endian, like every supported host
    }
  });
  for (std::size_t at = drawn; at < storage.size(); at += kPlainPeriod)
    std::memcpy(storage.data() + at, storage.data(), std::min(kPlainPeriod, storage.size() - at));
}

std::uint64_t scalar_bits(DType dtype, std::uint64_t seed) {
  return value_of(dtype, Domain::full, SplitMix(seed).next());
}

}  // namespace padlock::tuner
