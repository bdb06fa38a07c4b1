#pragma once

#include <span>
#include <string>
#include <vector>

#include "onnx/node_import.h"

// Helpers that several operators share, for shapes and arrays of sizes.
namespace padlock::onnx {

/// Returns the shape to which values broadcast, aligned at the last axis. Only a literal extent of 1 repeats. Error:
/// refused for two literal extents that differ.
[[nodiscard]] Result<std::vector<Expr>> broadcast_shape(SizeMath& sizes, std::span<Value* const> values);

/// Operands of an elementwise operation: names or literals, and the result's shape.
struct Operands {
  std::vector<std::string> names;
  std::vector<Expr> shape;
};
[[nodiscard]] Result<Operands> broadcast_operands(NodeImport& node, std::span<Value* const> values);

/// Makes the value, with another shape of as many elements, the node's result.
[[nodiscard]] Status finish_reshaped(NodeImport& node, Value& value, std::vector<Expr> shape, std::size_t output = 0);

/// Returns the number of elements of a literal shape; nullopt above limits::kSizes, or for a negative extent.
[[nodiscard]] std::optional<std::size_t> size_count(std::span<const std::int64_t> dims);
/// Returns the coordinates of element number `flat`.
[[nodiscard]] std::vector<std::int64_t> coordinates_of(std::size_t flat, std::span<const std::int64_t> dims);
[[nodiscard]] std::size_t flat_of(std::span<const std::int64_t> coordinates, std::span<const std::int64_t> dims);

/// Returns the array of that shape whose element at coordinates c is `array`'s element at map(c). Error: refused beyond
/// limits::kSizes.
template <class Map>
[[nodiscard]] Result<SizeArray> mapped(const SizeArray& array, std::vector<std::int64_t> dims, Map&& map) {
  const auto count = size_count(dims);
  if (!count) return refused("sizes of too many elements");
  SizeArray result{.dims = std::move(dims), .elements = {}};
  for (std::size_t i = 0; i < *count; ++i)
    result.elements.push_back(array.elements[flat_of(map(coordinates_of(i, result.dims)), array.dims)]);
  return result;
}

}  // namespace padlock::onnx
