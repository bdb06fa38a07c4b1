#include "tools/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>

#include "tools/element_walk.h"

namespace padlock::tools {
namespace {

/// Whether memory laid out by `strides` is the dense array in that order, byte for byte. The strides of axes with one
/// element mean nothing.
bool is_dense(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
              api::ElementOrder order) {
  const auto dense = api::dense_strides(extents, order);
  if (!dense) return false;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] > 1 && strides[axis] != (*dense)[axis]) return false;
  return true;
}

/// Calls visit(walk, element bytes) for every element of the file; stops where it returns false.
template <class Visit>
Outcome<void> for_each_element(const ArrayFile& file, const api::TensorInfo& tensor, Visit&& visit) {
  ElementReader reader(file);
  for (ElementWalk walk(tensor.extents, tensor.strides, file.order()); !walk.done(); walk.next()) {
    const auto element = reader.next();
    if (!element) return std::unexpected(element.error());
    if (!visit(walk, *element)) break;
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

/// The bits of 256 values of a type.
std::array<std::uint64_t, 256> random_values(ir::DType dtype) {
  std::array<std::uint64_t, 256> values{};
  for (int i = 0; i < 256; ++i) {
    const int k = i - 128;
    std::string text;
    switch (ir::kind_of(dtype)) {
      case ir::DTypeKind::floating:
        text = fmt::format("{}", k / 64.0);
        break;
      case ir::DTypeKind::signed_int:
        text = fmt::format("{}", k);
        break;
      case ir::DTypeKind::unsigned_int:
        text = fmt::format("{}", i);
        break;
      case ir::DTypeKind::truth:
        text = fmt::format("{}", i % 2);
        break;
    }
    const auto value = ir::parse_literal(text, dtype);
    values[static_cast<std::size_t>(i)] = value ? value->bits : 0;
  }
  return values;
}

}  // namespace

Outcome<void> place_elements(const ArrayFile& file, const api::TensorInfo& tensor, std::span<std::byte> storage) {
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
  if (!written || is_dense(tensor.extents, tensor.strides, api::ElementOrder::row_major)) return written;

  // Strides of one's own may put several elements at one address: then the last one written is there, and reading
  // the file again finds those that differ from it.
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

void fill_random(const api::TensorInfo& tensor, std::uint64_t seed, std::size_t place, std::span<std::byte> storage) {
  const std::array<std::uint64_t, 256> values = random_values(tensor.dtype);
  const auto size = static_cast<std::size_t>(ir::byte_size(tensor.dtype));
  const std::uint64_t stream = mix(mix(seed) + place);
  for (std::size_t i = 0; i < storage.size() / size; ++i)
    std::memcpy(storage.data() + i * size, &values[mix(stream + i) % values.size()], size);
}

}  // namespace padlock::tools
