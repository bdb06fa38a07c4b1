#include "bench/gpu/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "ir/program.h"
#include "ir/reference/interpreter.h"

namespace padlock::bench::gpu {
namespace {

constexpr std::int64_t kPeriod = 1048573;  // a prime
constexpr std::int64_t kLongestRow = 16384;
constexpr std::int64_t kChunkBytes = std::int64_t{64} << 20;

/// Some number of the type, finite and not -0: its bits. Half of them are negative.
std::uint32_t bits_of(ir::DType dtype, std::uint64_t random) {
  const auto word = static_cast<std::uint32_t>(random >> 32);
  switch (dtype) {
    case ir::DType::f32:
      return (word & 0x807FFFFFU) | (0x3F000000U + ((word >> 3) & 0x00800000U));
    case ir::DType::f16:
      return (word & 0x83FFU) | (0x3800U + ((word >> 16) & 0x0400U));
    case ir::DType::bf16:
      return (word & 0x807FU) | (0x3F00U + ((word >> 16) & 0x0080U));
    default:
      return word & 0xFFU;
  }
}

std::uint32_t fill_bits(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f32:
      return std::bit_cast<std::uint32_t>(0.5F);
    case ir::DType::f16:
      return 0x3800U;
    case ir::DType::bf16:
      return 0x3F00U;
    default:
      return 3;
  }
}

void put(std::vector<std::byte>& to, std::size_t element, std::size_t bytes, std::uint32_t bits) {
  std::memcpy(to.data() + element * bytes, &bits, bytes);  // little-endian, as the device is
}

/// The element that padding takes at a coordinate below 0 or beyond the extent, one lap at most; none for the fill.
std::optional<std::int64_t> source_of(ir::PadMode mode, std::int64_t at, std::int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case ir::PadMode::constant:
      return std::nullopt;
    case ir::PadMode::edge:
      return at < 0 ? 0 : extent - 1;
    case ir::PadMode::wrap:
      return at < 0 ? at + extent : at - extent;
    case ir::PadMode::reflect:
      return at < 0 ? -at : 2 * (extent - 1) - at;
    case ir::PadMode::symmetric:
      return at < 0 ? -at - 1 : 2 * extent - 1 - at;
  }
  return std::nullopt;
}

}  // namespace

Data::Data(ir::DType dtype)
    : element_bytes_(static_cast<std::size_t>(ir::byte_size(dtype))),
      sequence_((kPeriod + kLongestRow) * element_bytes_),
      rectified_((kPeriod + kLongestRow) * element_bytes_),
      fill_(element_bytes_) {
  std::mt19937_64 random(7);
  const std::uint32_t sign = 1U << (8 * element_bytes_ - 1);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const std::uint32_t bits = bits_of(dtype, random());
    const std::uint32_t positive = (bits & sign) != 0 ? 0 : bits;
    put(sequence_, i, element_bytes_, bits);
    put(rectified_, i, element_bytes_, positive);
    if (i >= kLongestRow) continue;
    put(sequence_, i + kPeriod, element_bytes_, bits);
    put(rectified_, i + kPeriod, element_bytes_, positive);
  }
  put(fill_, 0, element_bytes_, fill_bits(dtype));
}

std::vector<std::byte> Data::elements(std::int64_t count) const {
  std::vector<std::byte> out;
  for (auto left = static_cast<std::size_t>(count) * element_bytes_; left > 0;) {
    const std::size_t part = std::min(left, kPeriod * element_bytes_);
    out.insert(out.end(), sequence_.begin(), sequence_.begin() + static_cast<std::ptrdiff_t>(part));
    left -= part;
  }
  return out;
}

Status Data::write_all(runtime::Queue& queue, std::byte* to, std::int64_t bytes) const {
  auto done = std::min<std::int64_t>(bytes, kPeriod * static_cast<std::int64_t>(element_bytes_));
  PADLOCK_CHECK(queue.write(to, std::span(sequence_).first(static_cast<std::size_t>(done))));
  // Whole periods are copied behind themselves, so the sequence goes on.
  while (done < bytes) {
    const std::int64_t part = std::min(done, bytes - done);
    PADLOCK_CHECK(queue.copy(to + done, to, part));
    done += part;
  }
  return queue.synchronize();
}

void Data::append(std::vector<std::byte>& row, const Problem& problem, std::optional<std::int64_t> element) const {
  const std::vector<std::byte>& from = !element ? fill_ : problem.relu ? rectified_ : sequence_;
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(element ? element_bytes_ * (*element % kPeriod) : 0);
  row.insert(row.end(), at, at + static_cast<std::ptrdiff_t>(element_bytes_));
}

std::vector<std::byte> Data::expected_row(const Problem& problem, std::int64_t first, std::int64_t row) const {
  const std::vector<std::int64_t> outer = problem.output_extents();
  const std::vector<std::int64_t> inner = problem.padded_extents();
  const std::size_t last = outer.size() - 1;
  // In elements of the input.
  std::int64_t scale = problem.transposed ? 1 : inner[last];
  const std::int64_t step = problem.transposed ? inner[last - 1] : 1;
  bool inside = true;
  std::int64_t begin = first;
  for (std::size_t axis = last; axis-- > 0;) {
    const auto at = source_of(problem.mode, row % outer[axis] - problem.low[axis], inner[axis]);
    row /= outer[axis];
    inside = inside && at;
    begin += at.value_or(0) * scale;
    scale *= inner[axis];
    if (problem.transposed && axis + 1 == last) scale *= inner[last];
  }
  std::vector<std::byte> expected;
  const auto append_edge = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t column = from; column < to; ++column) {
      const auto at = source_of(problem.mode, column, inner[last]);
      append(expected, problem, inside && at ? std::optional(begin + *at * step) : std::nullopt);
    }
  };
  append_edge(-problem.low[last], 0);
  if (inside && step == 1) {
    const std::vector<std::byte>& sequence = problem.relu ? rectified_ : sequence_;
    const auto from = sequence.begin() + static_cast<std::ptrdiff_t>(element_bytes_ * (begin % kPeriod));
    expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(element_bytes_) * inner[last]);
  } else {
    append_edge(0, inner[last]);
  }
  append_edge(inner[last], inner[last] + problem.high[last]);
  return expected;
}

std::string Data::compare_rows(const Problem& problem, std::int64_t first, std::int64_t first_row,
                               std::span<const std::byte> rows) const {
  const auto row_bytes = static_cast<std::size_t>(problem.output_extents().back()) * element_bytes_;
  for (std::size_t at = 0; at < rows.size(); at += row_bytes) {
    const std::int64_t row = first_row + static_cast<std::int64_t>(at / row_bytes);
    const std::vector<std::byte> expected = expected_row(problem, first, row);
    const std::span<const std::byte> actual = rows.subspan(at, row_bytes);
    if (std::memcmp(expected.data(), actual.data(), row_bytes) == 0) continue;
    const auto differs = std::ranges::mismatch(expected, actual).in1 - expected.begin();
    const std::size_t column = static_cast<std::size_t>(differs) / element_bytes_;
    std::uint32_t wanted = 0;
    std::uint32_t found = 0;
    std::memcpy(&wanted, expected.data() + column * element_bytes_, element_bytes_);
    std::memcpy(&found, actual.data() + column * element_bytes_, element_bytes_);
    return fmt::format("{} of {}: row {}, column {}: expected bits {:#x}, found {:#x}", problem.program_name(),
                       Problem::text_of(problem.extents), row, column, wanted, found);
  }
  return {};
}

Result<std::string> Data::check_output(runtime::Queue& queue, const Problem& problem, std::int64_t first,
                                       const std::byte* output) const {
  const std::int64_t row_bytes = problem.output_extents().back() * static_cast<std::int64_t>(element_bytes_);
  const std::int64_t rows = problem.output_bytes() / row_bytes;
  const std::int64_t chunk_rows = std::clamp<std::int64_t>(kChunkBytes / row_bytes, 1, rows);
  std::vector<std::byte> chunk(static_cast<std::size_t>(chunk_rows * row_bytes));
  for (std::int64_t row = 0; row < rows; row += chunk_rows) {
    const auto bytes = static_cast<std::size_t>(std::min(chunk_rows, rows - row) * row_bytes);
    const std::span<std::byte> part = std::span(chunk).first(bytes);
    PADLOCK_CHECK(queue.read(part, output + row * row_bytes));
    std::string failure = compare_rows(problem, first, row, part);
    if (!failure.empty()) return failure;
  }
  return std::string();
}

Status Data::check_closed_form(const Problem& large) const {
  const Problem problem = small(large);
  PADLOCK_TRY(const ir::Program program, ir::parse_program(problem.program_text()));
  PADLOCK_TRY(const ir::Binding binding, ir::Binding::bind(program, problem.request()));
  const std::vector<std::byte> input = elements(problem.input_bytes() / static_cast<std::int64_t>(element_bytes_));
  std::vector<std::byte> output(static_cast<std::size_t>(problem.output_bytes()));
  ir::Interpreter interpreter(binding, {input}, {});
  PADLOCK_CHECK(interpreter.evaluate(program.results()[0], output));
  const std::string failure = compare_rows(problem, 0, 0, output);
  if (failure.empty()) return {};
  return internal_error("the closed form differs from the reference: " + failure);
}

}  // namespace padlock::bench::gpu
