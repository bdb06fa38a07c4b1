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
constexpr std::int64_t kLongestRow = 8192;
constexpr std::int64_t kChunkBytes = std::int64_t{64} << 20;

/// Some number of the type, finite and not -0: its bits. Half of them are negative.
std::uint32_t bits_of(ir::DType dtype, std::uint64_t random) {
  const auto word = static_cast<std::uint32_t>(random >> 32);
  switch (dtype) {
    case ir::DType::f32:
      return (word & 0x807FFFFFU) | (0x3F000000U + ((word >> 3) & 0x00800000U));
    case ir::DType::f16:
      return (word & 0x83FFU) | (0x3800U + ((word >> 16) & 0x0400U));
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
    default:
      return 3;
  }
}

void put(std::vector<std::byte>& to, std::size_t element, std::size_t bytes, std::uint32_t bits) {
  std::memcpy(to.data() + element * bytes, &bits, bytes);  // little-endian, as the device is
}

}  // namespace

Data::Data(ir::DType dtype)
    : element_bytes_(static_cast<std::size_t>(ir::byte_size(dtype))),
      sequence_(kPeriod * element_bytes_),
      rectified_((kPeriod + kLongestRow) * element_bytes_),
      fill_(element_bytes_) {
  std::mt19937_64 random(7);
  const std::uint32_t sign = 1U << (8 * element_bytes_ - 1);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const std::uint32_t bits = bits_of(dtype, random());
    const std::uint32_t positive = (bits & sign) != 0 ? 0 : bits;
    put(sequence_, i, element_bytes_, bits);
    put(rectified_, i, element_bytes_, positive);
    if (i < kLongestRow) put(rectified_, i + kPeriod, element_bytes_, positive);
  }
  put(fill_, 0, element_bytes_, fill_bits(dtype));
}

std::vector<std::byte> Data::elements(std::int64_t count) const {
  std::vector<std::byte> out;
  for (auto left = static_cast<std::size_t>(count) * element_bytes_; left > 0;) {
    const std::size_t part = std::min(left, sequence_.size());
    out.insert(out.end(), sequence_.begin(), sequence_.begin() + static_cast<std::ptrdiff_t>(part));
    left -= part;
  }
  return out;
}

Status Data::write_all(runtime::Queue& queue, std::byte* to, std::int64_t bytes) const {
  auto done = std::min<std::int64_t>(bytes, static_cast<std::int64_t>(sequence_.size()));
  PADLOCK_CHECK(queue.write(to, std::span(sequence_).first(static_cast<std::size_t>(done))));
  // Whole periods are copied behind themselves, so the sequence goes on.
  while (done < bytes) {
    const std::int64_t part = std::min(done, bytes - done);
    PADLOCK_CHECK(queue.copy(to + done, to, part));
    done += part;
  }
  return queue.synchronize();
}

std::vector<std::byte> Data::expected_row(const Problem& problem, std::int64_t first, std::int64_t row) const {
  const std::vector<std::int64_t> outer = problem.output_extents();
  const std::size_t last = outer.size() - 1;
  std::int64_t input_row = 0;
  std::int64_t scale = 1;
  bool inside = true;
  for (std::size_t axis = last; axis-- > 0;) {
    const std::int64_t at = row % outer[axis] - problem.low[axis];
    row /= outer[axis];
    inside = inside && at >= 0 && at < problem.extents[axis];
    input_row += at * scale;
    scale *= problem.extents[axis];
  }
  std::vector<std::byte> expected;
  const auto append_fill = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) expected.insert(expected.end(), fill_.begin(), fill_.end());
  };
  if (!inside) {
    append_fill(outer[last]);
    return expected;
  }
  append_fill(problem.low[last]);
  const auto phase = static_cast<std::size_t>((first + input_row * problem.extents[last]) % kPeriod);
  const auto from = rectified_.begin() + static_cast<std::ptrdiff_t>(phase * element_bytes_);
  const auto columns = static_cast<std::size_t>(problem.extents[last]) * element_bytes_;
  expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(columns));
  append_fill(problem.high[last]);
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

Status Data::check_closed_form(const Problem& problem) const {
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
