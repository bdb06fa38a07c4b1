#include "onnx/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "onnx/element_types.h"
#include "onnx/external_data.h"
#include "onnx/limits.h"
#include "onnx/wire.h"

namespace padlock::onnx {
namespace {

std::unexpected<Error> damaged_tensor(const StoredTensor& tensor, std::string_view why) {
  return invalid_argument(fmt::format("the constant '{}' {}", tensor.name.substr(0, limits::kNameBytes), why));
}

/// Returns the product of the dimensions.
Result<std::size_t> count_of(const StoredTensor& tensor) {
  if (tensor.dims.size() > limits::kRank)
    return beyond_limits(
        fmt::format("expected at most {} dimensions of a constant, found {}", limits::kRank, tensor.dims.size()));
  if (std::ranges::any_of(tensor.dims, [](std::int64_t n) { return n < 0; }))
    return damaged_tensor(tensor, "has a negative dimension");
  std::size_t count = std::ranges::find(tensor.dims, 0) == tensor.dims.end() ? 1 : 0;
  for (const std::int64_t n : tensor.dims) {
    if (count == 0) break;
    if (static_cast<std::uint64_t>(n) > limits::kElements / count)
      return beyond_limits(fmt::format("expected a constant of at most {} elements", limits::kElements));
    count *= static_cast<std::size_t>(n);
  }
  return count;
}

/// Reads little-endian elements of the type's width.
Status read_raw(const StoredTensor& tensor, std::string_view raw, Elements& elements) {
  const auto bytes = static_cast<std::size_t>(ir::byte_size(elements.dtype));
  if (raw.size() != elements.count * bytes)
    return damaged_tensor(tensor,
                          fmt::format("has {} bytes, expected {} elements of {}", raw.size(), elements.count, bytes));
  elements.bits.reserve(elements.count);
  for (std::size_t at = 0; at < raw.size(); at += bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, raw.data() + at, bytes);
    elements.bits.push_back(value);
  }
  return {};
}

/// Returns the field that holds elements of a type.
ElementField field_of(ir::DType dtype) {
  using enum ir::DType;
  if (dtype == f32) return ElementField::floats;
  if (dtype == f64) return ElementField::doubles;
  if (dtype == i64) return ElementField::int64s;
  return dtype == u32 || dtype == u64 ? ElementField::uint64s : ElementField::int32s;
}

Status read_fields(const StoredTensor& tensor, Elements& elements) {
  elements.bits.reserve(elements.count);
  for (const auto& [field, packed] : tensor.packed)
    if (field == field_of(elements.dtype)) PADLOCK_CHECK(read_packed(field, packed, elements.count + 1, elements.bits));
  if (elements.bits.size() != elements.count)
    return damaged_tensor(
        tensor, fmt::format("has {}{} elements, expected {}", elements.bits.size() > elements.count ? "over " : "",
                            std::min(elements.bits.size(), elements.count), elements.count));
  return {};
}

}  // namespace

std::int64_t Elements::integer(std::size_t index) const {
  const std::uint64_t value = at(index).bits;
  const int unused = 64 - ir::bit_width(dtype);
  if (!ir::is_signed(dtype)) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

Result<Elements> ElementReader::read(const StoredTensor& tensor) {
  const auto dtype = element_type(tensor.type);
  if (!dtype)
    return std::unexpected(Error{.code = Code::unimplemented,
                                 .blame = Blame::user,
                                 .message = fmt::format("elements are of the type {}", name_of_type(tensor.type))});
  Elements elements{.dtype = *dtype, .dims = tensor.dims, .count = 0, .bits = {}};
  PADLOCK_TRY(elements.count, count_of(tensor));
  read_ += elements.count;
  if (read_ > limits::kAllElements)
    return beyond_limits(fmt::format("expected constants of at most {} elements in all", limits::kAllElements));
  if (tensor.is_external) {
    const std::size_t bytes = elements.count * static_cast<std::size_t>(ir::byte_size(*dtype));
    PADLOCK_TRY(const std::string raw, read_external(tensor, folder_, bytes));
    PADLOCK_CHECK(read_raw(tensor, raw, elements));
  } else if (tensor.raw) {
    PADLOCK_CHECK(read_raw(tensor, *tensor.raw, elements));
  } else {
    PADLOCK_CHECK(read_fields(tensor, elements));
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - ir::bit_width(*dtype));
  for (std::uint64_t& bits : elements.bits) bits = *dtype == ir::DType::boolean ? (bits & 0xff) != 0 : bits & mask;
  if (std::ranges::adjacent_find(elements.bits, std::ranges::not_equal_to()) == elements.bits.end())
    elements.bits.resize(std::min<std::size_t>(elements.bits.size(), 1));
  return elements;
}

}  // namespace padlock::onnx
