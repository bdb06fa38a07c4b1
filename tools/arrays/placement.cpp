#include "tools/arrays/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>

#include "tools/arrays/element_walk.h"

namespace padlock::tools {
namespace {

/// Returns whether memory with these strides is the dense array in that order, byte for byte. Strides of axes with one
/// element are ignored.
bool is_dense(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides, ElementOrder order) {
  const auto dense =
      lib::dense_strides(extents, order == ElementOrder::row_major ? PADLOCK_ROW_MAJOR : PADLOCK_COLUMN_MAJOR);
  if (!dense) return false;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] > 1 && strides[axis] != (*dense)[axis]) return false;
  return true;
}

/// Calls visit(walk, element bytes) for every element of the file; stops if it returns false.
template <class Visit>
Outcome<void> for_each_element(const ArrayFile& file, const lib::TensorInfo& tensor, Visit&& visit) {
  ElementReader reader(file);
  for (ElementWalk walk(tensor.extents, tensor.strides, file.order()); !walk.done(); walk.next()) {
    PADLOCK_TRY(const auto element, reader.next());
    if (!visit(walk, element)) break;
  }
  return {};
}

std::uint64_t mix(std::uint64_t x) {
  // splitmix64's finalizer.
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Returns one of 256 values of a type, as a literal.
std::string random_literal(DLDataType type, int i) {
  const int k = i - 128;
  switch (type.code) {
    case kDLInt:
      return fmt::format("{}", k);
    case kDLUInt:
      return fmt::format("{}", i);
    case kDLBool:
      return fmt::format("{}", i % 2);
    default:
      return fmt::format("{}", k / 64.0);
  }
}

std::array<std::uint64_t, 256> random_values(DLDataType type) {
  std::array<std::uint64_t, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = lib::parse_scalar(random_literal(type, static_cast<int>(i)), type);
    values.at(i) = bits ? *bits : 0;
  }
  return values;
}

}  // namespace

Outcome<void> place_elements(const ArrayFile& file, const lib::TensorInfo& tensor, std::span<std::byte> storage) {
  if (file.data_bytes() == 0) return {};
  if (is_dense(tensor.extents, tensor.strides, file.order()))
    return file.read(0, storage.first(static_cast<std::size_t>(file.data_bytes())));

  const auto size = static_cast<std::size_t>(file.element_bytes());
  const auto address = [&](const ElementWalk& walk) {
    return storage.data() + static_cast<std::size_t>(walk.offset()) * size;
  };
  auto written = for_each_element(file, tensor, [&](const ElementWalk& walk, const std::byte* element) {
    std::memcpy(address(walk), element, size);
    return true;
  });
  if (!written || is_dense(tensor.extents, tensor.strides, ElementOrder::row_major)) return written;

  // The caller's strides may put several elements at one address, which then has the last one. Reading the file again
  // finds elements that differ from it.
  std::vector<std::int64_t> conflict;
  auto checked = for_each_element(file, tensor, [&](const ElementWalk& walk, const std::byte* element) {
    if (std::memcmp(address(walk), element, size) == 0) return true;
    conflict = walk.coordinates();
    return false;
  });
  if (!checked || conflict.empty()) return checked;
  return fail(
      ExitCode::mismatch,
      fmt::format("{}: {} has strides [{}], which put several elements at one address, but element [{}] differs "
                  "from another one there",
                  file.path(), tensor.name, fmt::join(tensor.strides, ", "), fmt::join(conflict, ", ")));
}

void fill_random(const lib::TensorInfo& tensor, std::uint64_t seed, std::size_t place, std::span<std::byte> storage) {
  const std::array<std::uint64_t, 256> values = random_values(tensor.type);
  const auto size = static_cast<std::size_t>(byte_size(tensor.type));
  const std::uint64_t stream = mix(mix(seed) + place);
  for (std::size_t i = 0; i < storage.size() / size; ++i)
    std::memcpy(storage.data() + i * size, &values[mix(stream + i) % values.size()], size);
}

}  // namespace padlock::tools
