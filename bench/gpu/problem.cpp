#include "bench/gpu/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace padlock::bench::gpu {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

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

}  // namespace

std::vector<std::int64_t> Problem::output_extents() const {
  std::vector<std::int64_t> padded;
  for (std::size_t i = 0; i < extents.size(); ++i) padded.push_back(low[i] + extents[i] + high[i]);
  return padded;
}

std::int64_t Problem::input_bytes() const { return product(extents) * ir::byte_size(dtype); }
std::int64_t Problem::output_bytes() const { return product(output_extents()) * ir::byte_size(dtype); }

std::string Problem::program_name() const {
  return fmt::format("pad_relu_{}_rank{}_{}", ir::name_of(dtype), rank(), aligned ? "aligned" : "misaligned");
}

std::string Problem::text_of(const std::vector<std::int64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}

std::string Problem::program_text() const {
  std::vector<std::string> symbols;
  for (int i = 0; i < rank(); ++i) symbols.push_back(fmt::format("D{}", i));
  return fmt::format(
      "program {}(x: {}[{}])\n{{\n  y = pad(x, low = {}, high = {}, value = {})\n  z = relu(y)\n  return z\n}}\n",
      program_name(), ir::name_of(dtype), fmt::join(symbols, ", "), text_of(low), text_of(high), fill());
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
  // An odd number of columns, padded by one: no two rows lie alike.
  problem.extents = {aligned ? growth.columns : growth.columns - 1};
  const std::int64_t edge = aligned ? kVectorBytes / ir::byte_size(dtype) : 1;
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

std::vector<Problem> all_problems(const std::vector<std::int64_t>& sizes) {
  std::vector<Problem> problems;
  for (const ir::DType dtype : {ir::DType::f32, ir::DType::f16, ir::DType::i8})
    for (int rank = 2; rank <= 5; ++rank)
      for (const bool aligned : {true, false})
        for (const std::int64_t size : sizes) problems.push_back(make_problem(dtype, rank, aligned, size));
  return problems;
}

}  // namespace padlock::bench::gpu
