#include "bench/pad_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace padlock::bench {
namespace {

constexpr std::size_t kPeriod = 65521;  // prime
constexpr std::int64_t kFill = -1;

struct FloatBits {
  int exponent;
  int fraction;
};

FloatBits bits_of(ir::DType dtype) {
  if (dtype == ir::DType::f64) return {11, 52};
  if (dtype == ir::DType::f16) return {5, 10};
  return {8, dtype == ir::DType::bf16 ? 7 : 23};
}

/// Returns the position that element `at` of the result is taken from on one axis; kFill if from none. As
/// docs/language.md.
std::int64_t source_of(const std::string& mode, std::int64_t at, std::int64_t n) {
  const auto mod = [](std::int64_t a, std::int64_t d) { return (a % d + d) % d; };
  if (mode == "constant") return at >= 0 && at < n ? at : kFill;
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, n - 1);
  if (mode == "wrap") return mod(at, n);
  if (mode == "symmetric") return std::min(mod(at, 2 * n), 2 * n - 1 - mod(at, 2 * n));
  const std::int64_t period = std::max<std::int64_t>(2 * (n - 1), 1);
  return mod(at, period) < n ? mod(at, period) : period - mod(at, period);
}

/// The fill's bits: of the literals that cases have.
std::uint64_t fill_bits(const PadSpec& spec) {
  const std::string literal = fill_literal(spec.pad, spec.dtype);
  if (!ir::is_float(spec.dtype)) return static_cast<std::uint64_t>(std::stoi(literal));
  const auto [exponent_bits, fraction_bits] = bits_of(spec.dtype);
  if (literal == "-inf") return ((std::uint64_t{2} << exponent_bits) - 1) << fraction_bits;
  return literal == "1" ? ((std::uint64_t{1} << (exponent_bits - 1)) - 1) << fraction_bits : 0;
}

/// One row of the result after another, for all its rows.
class Rows {
 public:
  Rows(const PadSpec& spec, std::span<const std::byte> input)
      : pad_(spec.pad),
        input_(input),
        size_(static_cast<std::size_t>(ir::byte_size(spec.dtype))),
        result_(result_extents(spec.pad)),
        at_(spec.pad.rank() - 1),
        row_(static_cast<std::size_t>(result_.back()) * size_) {
    const std::uint64_t fill = relu(spec, fill_bits(spec));
    std::memcpy(fill_, &fill, sizeof fill_);
    for (std::int64_t i = 0; i < result_.back(); ++i)
      columns_.push_back(source_of(pad_.mode, i - pad_.low.back(), pad_.extents.back()));
  }

  [[nodiscard]] std::int64_t count() const {
    return element_count(result_) / std::max<std::int64_t>(result_.back(), 1);
  }

  /// The bits after relu, if there is one.
  static std::uint64_t relu(const PadSpec& spec, std::uint64_t bits) {
    const std::uint64_t sign = std::uint64_t{1} << (ir::bit_width(spec.dtype) - 1);
    return spec.relu && (bits & sign) != 0 ? 0 : bits;
  }

  std::span<const std::byte> next(const PadSpec& spec) {
    const std::int64_t first = first_element();
    std::byte* to = row_.data();
    for (const std::int64_t column : columns_) {
      std::uint64_t bits = 0;
      const bool is_fill = first == kFill || column == kFill;
      std::memcpy(&bits, is_fill ? fill_ : input_.data() + static_cast<std::size_t>(first + column) * size_, size_);
      bits = relu(spec, bits);
      std::memcpy(to, &bits, size_);
      to += size_;
    }
    advance();
    return row_;
  }

 private:
  /// Returns the index of the first element of the input's row that this one is made of, or kFill.
  [[nodiscard]] std::int64_t first_element() const {
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < at_.size(); ++axis) {
      const std::int64_t source = source_of(pad_.mode, at_[axis] - pad_.low[axis], pad_.extents[axis]);
      if (source == kFill) return kFill;
      row = row * pad_.extents[axis] + source;
    }
    return row * pad_.extents.back();
  }
  void advance() {
    for (std::size_t axis = at_.size(); axis-- > 0;) {
      if (++at_[axis] < result_[axis]) return;
      at_[axis] = 0;
    }
  }

  const PadCase& pad_;                // borrowed
  std::span<const std::byte> input_;  // borrowed
  std::size_t size_;
  std::vector<std::int64_t> result_;
  std::vector<std::int64_t> at_;  // coordinates of the row
  std::vector<std::byte> row_;
  std::vector<std::int64_t> columns_;
  std::byte fill_[sizeof(std::uint64_t)];
};

}  // namespace

void fill_with_noise(std::span<std::byte> data) {
  const std::size_t period = std::min(data.size(), kPeriod);
  std::uint32_t state = 12345;
  for (std::size_t at = 0; at < period; ++at) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t byte = state >> 24;
    // The exponent of any float that this is the upper byte of is in the middle of its range.
    const std::uint32_t middle = (byte >> 6 ^ byte >> 5) & 1;
    data[at] = static_cast<std::byte>(middle != 0 ? byte : byte ^ 0x20U);
  }
  for (std::size_t at = period; at < data.size(); at += period)
    std::memcpy(data.data() + at, data.data(), std::min(period, data.size() - at));
}

namespace {

Status check_transposed(const PadSpec& spec, std::span<const std::byte> input, std::span<const std::byte> result) {
  const auto size = static_cast<std::int64_t>(ir::byte_size(spec.dtype));
  const std::int64_t rows = spec.pad.extents[spec.pad.rank() - 2], columns = spec.pad.extents.back();
  for (std::int64_t i = 0; i < element_count(spec.pad.extents); ++i) {
    const std::int64_t matrix = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const std::int64_t to = matrix * rows * columns + column * rows + row;
    if (std::memcmp(input.data() + i * size, result.data() + to * size, static_cast<std::size_t>(size)) != 0)
      return internal_error(fmt::format("{} of {} differs from its definition at byte {}", spec.pad.name,
                                        ir::name_of(spec.dtype), to * size));
  }
  return {};
}

}  // namespace

Status check_result(const PadSpec& spec, std::span<const std::byte> input, std::span<const std::byte> result) {
  if (spec.pad.mode == "transpose") return check_transposed(spec, input, result);
  Rows rows(spec, input);
  std::size_t at = 0;
  for (std::int64_t i = rows.count(); i > 0; --i) {
    const std::span<const std::byte> row = rows.next(spec);
    if (std::memcmp(result.data() + at, row.data(), row.size()) != 0) {
      const auto differs = std::ranges::mismatch(row, result.subspan(at, row.size())).in1 - row.begin();
      return internal_error(fmt::format("{} of {} differs from its definition at byte {}", spec.pad.name,
                                        ir::name_of(spec.dtype), at + static_cast<std::size_t>(differs)));
    }
    at += row.size();
  }
  return {};
}

}  // namespace padlock::bench
