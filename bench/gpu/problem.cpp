#include "bench/gpu/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace padlock::bench::gpu {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::array kDTypes = {ir::DType::f32, ir::DType::f16, ir::DType::i8};
/// Lengths of rows: what images, sequences and hidden states have, and one below and at powers of two.
constexpr std::array<std::int64_t, 8> kRowLengths = {127, 128, 224, 255, 256, 1000, 4096, 16384};
constexpr std::int64_t kVariantColumns = 1000;
/// Channels and pixels of images and of what networks make of them.
struct ImageShape {
  std::int64_t channels, pixels;
};
constexpr std::array<ImageShape, 5> kImageShapes = {
    {{3, 224 * 224}, {4, 224 * 224}, {16, 112 * 112}, {64, 56 * 56}, {256, 28 * 28}}};

/// Extents, for each rank from 2 to 5, up to which the axes grow, innermost first: rows, batches of images, NCHW and
/// NCDHW.
struct AxisGrowth {
  std::int64_t columns;
  std::vector<std::int64_t> outer;
};
const AxisGrowth& growth_of(int rank) {
  static const std::array<AxisGrowth, 4> kGrowth = {{{4096, {kUnlimited}},
                                                     {1024, {512, kUnlimited}},
                                                     {256, {256, 64, kUnlimited}},
                                                     {128, {128, 16, 16, kUnlimited}}}};
  return kGrowth.at(static_cast<std::size_t>(rank - 2));
}

/// Axes besides the innermost that are padded: the spatial ones.
int padded_outer_axes(int rank) { return rank == 5 ? 2 : 1; }

std::int64_t product(const std::vector<std::int64_t>& extents) {
  std::int64_t elements = 1;
  for (const std::int64_t e : extents) elements *= e;
  return elements;
}

std::int64_t elements_of_vector(ir::DType dtype) { return kVectorBytes / ir::byte_size(dtype); }

Problem make_rows(ir::DType dtype, std::int64_t columns, bool aligned, std::int64_t nominal_bytes) {
  const std::int64_t edge = aligned ? elements_of_vector(dtype) : 1;
  const std::int64_t rows = std::max<std::int64_t>(1, nominal_bytes / (columns * ir::byte_size(dtype)));
  return {.dtype = dtype,
          .aligned = aligned,
          .nominal_bytes = nominal_bytes,
          .extents = {rows, columns},
          .low = {1, edge},
          .high = {1, edge},
          .shape = fmt::format("rows{}", columns)};
}

/// As square as powers of two are.
Problem make_transpose(ir::DType dtype, bool aligned, std::int64_t nominal_bytes) {
  const std::int64_t elements = nominal_bytes / ir::byte_size(dtype);
  const std::int64_t columns = std::int64_t{1} << std::max(5, static_cast<int>(std::log2(elements) / 2));
  Problem problem = make_rows(dtype, columns, aligned, nominal_bytes);
  if (!aligned) problem.extents = {problem.extents[0] - 1, columns - 1};
  problem.low[0] = problem.high[0] = 0;  // so that the result's rows are the input's columns
  problem.relu = false;
  problem.transposed = true;
  problem.shape = "matrix";
  return problem;
}

/// NCHW to NHWC where channels become the innermost axis, else NHWC to NCHW; nothing is padded. The pixels of an image
/// are one axis here, as they are to Padlock.
Problem make_images(ir::DType dtype, const ImageShape& image, bool to_innermost, std::int64_t nominal_bytes) {
  const std::int64_t size = ir::byte_size(dtype);
  const std::int64_t images = std::max<std::int64_t>(1, nominal_bytes / (image.channels * image.pixels * size));
  return {.dtype = dtype,
          .aligned = image.channels % elements_of_vector(dtype) == 0,
          .nominal_bytes = nominal_bytes,
          .extents = to_innermost ? std::vector{images, image.channels, image.pixels}
                                  : std::vector{images, image.pixels, image.channels},
          .low = {0, 0, 0},
          .high = {0, 0, 0},
          .relu = false,
          .transposed = true,
          .shape = fmt::format("{}{}", to_innermost ? "nhwc" : "nchw", image.channels)};
}

std::vector<Problem> images_of_size(ir::DType dtype, std::int64_t size) {
  std::vector<Problem> problems;
  for (const ImageShape& image : kImageShapes)
    for (const bool to_innermost : {true, false}) problems.push_back(make_images(dtype, image, to_innermost, size));
  return problems;
}

std::vector<Problem> table_of_size(ir::DType dtype, std::int64_t size) {
  std::vector<Problem> problems;
  for (int rank = 2; rank <= 5; ++rank)
    for (const bool aligned : {true, false}) problems.push_back(make_problem(dtype, rank, aligned, size));
  return problems;
}

std::vector<Problem> rows_of_size(ir::DType dtype, std::int64_t size) {
  std::vector<Problem> problems;
  for (const std::int64_t columns : kRowLengths)
    for (const bool aligned : {true, false})
      if (!aligned || columns % elements_of_vector(dtype) == 0)
        problems.push_back(make_rows(dtype, columns, aligned, size));
  return problems;
}

std::vector<Problem> variants_of_size(ir::DType dtype, std::int64_t size) {
  Problem pad = make_rows(dtype, kVariantColumns, false, size);  // with relu it is one of Family::rows
  pad.relu = false;
  Problem literal = pad;
  literal.literal = true;
  std::vector<Problem> problems = {pad, literal};
  for (const ir::PadMode mode : ir::kPadModes)
    if (mode != ir::PadMode::constant) {
      problems.push_back(pad);
      problems.back().mode = mode;
    }
  return problems;
}

std::vector<Problem> family_of_size(Family family, ir::DType dtype, std::int64_t size) {
  switch (family) {
    case Family::table:
    case Family::bf16:
      return table_of_size(dtype, size);
    case Family::rows:
      return rows_of_size(dtype, size);
    case Family::transpose:
      return {make_transpose(dtype, true, size), make_transpose(dtype, false, size)};
    case Family::images:
      return images_of_size(dtype, size);
    case Family::variants:
      break;
  }
  return variants_of_size(dtype, size);
}

std::vector<ir::DType> dtypes_of(Family family) {
  if (family == Family::bf16) return {ir::DType::bf16};
  return {kDTypes.begin(), kDTypes.end()};
}

}  // namespace

std::vector<std::int64_t> Problem::padded_extents() const {
  std::vector<std::int64_t> padded = extents;
  if (transposed) std::swap(padded[padded.size() - 1], padded[padded.size() - 2]);
  return padded;
}

std::vector<std::int64_t> Problem::output_extents() const {
  std::vector<std::int64_t> padded = padded_extents();
  for (std::size_t i = 0; i < padded.size(); ++i) padded[i] += low[i] + high[i];
  return padded;
}

std::int64_t Problem::input_bytes() const { return product(extents) * ir::byte_size(dtype); }
std::int64_t Problem::output_bytes() const { return product(output_extents()) * ir::byte_size(dtype); }

std::string Problem::program_name() const {
  std::string name = transposed ? "transpose_pad" : "pad";
  if (mode != ir::PadMode::constant) name += fmt::format("_{}", ir::name_of(mode));
  if (relu) name += "_relu";
  if (literal) name += fmt::format("_literal_{}", fmt::join(extents, "x"));
  return fmt::format("{}_{}_{}_{}", name, ir::name_of(dtype), shape, aligned ? "aligned" : "misaligned");
}

std::string Problem::text_of(const std::vector<std::int64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}

std::string Problem::program_text() const {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < extents.size(); ++i)
    sizes.push_back(literal ? fmt::to_string(extents[i]) : fmt::format("D{}", i));
  const std::string how =
      mode == ir::PadMode::constant ? fmt::format("value = {}", fill()) : fmt::format("mode = {}", ir::name_of(mode));
  std::string body;
  if (transposed) body += fmt::format("  t = transpose(x, perm = [{}])\n", rank() == 2 ? "1, 0" : "0, 2, 1");
  body +=
      fmt::format("  y = pad({}, low = {}, high = {}, {})\n", transposed ? "t" : "x", text_of(low), text_of(high), how);
  if (relu) body += "  z = relu(y)\n";
  return fmt::format("program {}(x: {}[{}])\n{{\n{}  return {}\n}}\n", program_name(), ir::name_of(dtype),
                     fmt::join(sizes, ", "), body, relu ? "z" : "y");
}

ir::BindRequest Problem::request() const {
  return {.tensors = {ir::ArgumentShape{extents, std::nullopt}}, .symbols = {}};
}

Problem make_problem(ir::DType dtype, int rank, bool aligned, std::int64_t nominal_bytes) {
  const AxisGrowth& growth = growth_of(rank);
  Problem problem;
  problem.dtype = dtype;
  problem.aligned = aligned;
  problem.nominal_bytes = nominal_bytes;
  problem.shape = fmt::format("rank{}", rank);
  // An odd number of columns, padded by one: no two rows lie alike.
  problem.extents = {aligned ? growth.columns : growth.columns - 1};
  const std::int64_t edge = aligned ? elements_of_vector(dtype) : 1;
  problem.low = problem.high = {edge};
  std::int64_t rows = std::max<std::int64_t>(1, nominal_bytes / (growth.columns * ir::byte_size(dtype)));
  for (std::size_t i = 0; i < growth.outer.size(); ++i) {
    const std::int64_t extent = std::min(rows, growth.outer[i]);
    rows /= extent;
    problem.extents.insert(problem.extents.begin(), extent);
    const std::int64_t pad = static_cast<int>(i) < padded_outer_axes(rank) ? 1 : 0;
    problem.low.insert(problem.low.begin(), pad);
    problem.high.insert(problem.high.begin(), pad);
  }
  return problem;
}

std::vector<Problem> problems_of(const std::vector<Family>& families, const std::vector<std::int64_t>& sizes) {
  std::vector<Problem> problems;
  for (const Family family : families)
    for (const ir::DType dtype : dtypes_of(family)) {
      std::vector<std::vector<Problem>> by_size;
      for (const std::int64_t size : sizes) by_size.push_back(family_of_size(family, dtype, size));
      for (std::size_t program = 0; !by_size.empty() && program < by_size[0].size(); ++program)
        for (const std::vector<Problem>& of_size : by_size) problems.push_back(of_size[program]);
    }
  return problems;
}

Problem small(Problem problem) {
  for (std::size_t i = 0; i + 1 < problem.extents.size(); ++i)
    problem.extents[i] = std::min<std::int64_t>(problem.extents[i], 3);
  return problem;
}

}  // namespace padlock::bench::gpu
