#include "tools/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "api/comparison.h"
#include "tools/element_walk.h"

namespace padlock::tools {
namespace {

/// Hosts are little-endian (x86-64), so the low bytes come first.
std::uint64_t load_bits(const std::byte* element, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  return bits;
}

std::string shape_text(const api::TensorInfo& tensor) {
  return fmt::format("{}[{}]", ir::name_of(tensor.dtype), fmt::join(tensor.extents, ", "));
}

}  // namespace

std::string element_text(ir::DType dtype, const std::byte* element) {
  return ir::to_string(ir::Scalar{dtype, load_bits(element, static_cast<std::size_t>(ir::byte_size(dtype)))});
}

Outcome<Comparison> compare_with_file(const ArrayFile& file, const api::TensorInfo& result,
                                      std::span<const std::byte> storage, std::uint64_t ulp,
                                      const NanIsOpen& nan_is_open) {
  Comparison comparison;
  if (!file.holds(result.dtype) || file.extents() != result.extents) {
    comparison.first = fmt::format("expected {}, found {}", file.description(), shape_text(result));
    return comparison;
  }
  const auto size = static_cast<std::size_t>(file.element_bytes());
  ElementReader reader(file);
  for (ElementWalk walk(result.extents, result.strides, file.order()); !walk.done(); walk.next()) {
    const auto expected = reader.next();
    if (!expected) return std::unexpected(expected.error());
    const std::byte* const actual = storage.data() + static_cast<std::size_t>(walk.offset()) * size;
    ++comparison.elements;
    const api::Match match =
        api::match_elements(result.dtype, load_bits(*expected, size), load_bits(actual, size), ulp);
    if (match == api::Match::equal) continue;
    if (match == api::Match::if_open) {
      const auto open = nan_is_open(walk.coordinates());
      if (!open) return fail(ExitCode::internal, open.error());
      if (*open) continue;
    }
    if (comparison.differing++ == 0)
      comparison.first = fmt::format("at [{}] expected {}, found {}", fmt::join(walk.coordinates(), ", "),
                                     element_text(result.dtype, *expected), element_text(result.dtype, actual));
  }
  return comparison;
}

}  // namespace padlock::tools
