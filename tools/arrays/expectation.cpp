#include "tools/arrays/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/arrays/element_walk.h"

namespace padlock::tools {
namespace {

std::string shape_text(const lib::TensorInfo& tensor) {
  return fmt::format("{}[{}]", lib::type_name(tensor.type), fmt::join(tensor.extents, ", "));
}

}  // namespace

Outcome<Comparison> compare_with_file(const ArrayFile& file, const lib::TensorInfo& result,
                                      std::span<const std::byte> storage, const Matches& matches) {
  Comparison comparison;
  if (!file.holds(result.type) || file.extents() != result.extents) {
    comparison.first = fmt::format("expected {}, found {}", file.description(), shape_text(result));
    return comparison;
  }
  const auto size = static_cast<std::size_t>(file.element_bytes());
  ElementReader reader(file);
  for (ElementWalk walk(result.extents, result.strides, file.order()); !walk.done(); walk.next()) {
    PADLOCK_TRY(const auto expected, reader.next());
    const std::byte* const actual = storage.data() + static_cast<std::size_t>(walk.offset()) * size;
    ++comparison.elements;
    const std::uint64_t wanted = element_bits(result.type, expected), found = element_bits(result.type, actual);
    if (wanted == found) continue;
    PADLOCK_TRY(const auto same, or_fail(ExitCode::internal, matches(walk.coordinates(), wanted, found)));
    if (same) continue;
    if (comparison.differing++ == 0)
      comparison.first = fmt::format("at [{}] expected {}, found {}", fmt::join(walk.coordinates(), ", "),
                                     element_text(result.type, expected), element_text(result.type, actual));
  }
  return comparison;
}

}  // namespace padlock::tools
