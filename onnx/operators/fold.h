#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "onnx/node_import.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {

/// Broadcasts the inputs and applies a function to each element. `read`: (input) -> Result<ArrayOf<Element>>.
/// `function`: (std::span<const Element>, one of each input) -> Result<Element>. Errors: theirs; refused for too many
/// elements.
template <class Element, class Read, class Function>
Result<ArrayOf<Element>> fold_elements(NodeImport& node, const Read& read, const Function& function) {
  std::vector<Value*> values;
  std::vector<ArrayOf<Element>> arrays;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    PADLOCK_TRY(values.emplace_back(), node.input(i));
    PADLOCK_TRY(arrays.emplace_back(), read(i));
  }
  PADLOCK_TRY(const std::vector<Expr> shape, broadcast_shape(node.sizes(), values));
  ArrayOf<Element> result;
  for (const Expr n : shape) result.dims.push_back(literal(n).value_or(-1));
  const auto count = size_count(result.dims);
  if (!count) return refused("sizes of too many elements");
  std::vector<Element> operands(arrays.size());
  for (std::size_t i = 0; i < *count; ++i) {
    const auto coordinates = coordinates_of(i, result.dims);
    for (std::size_t k = 0; k < operands.size(); ++k) operands[k] = element_at(arrays[k], coordinates);
    PADLOCK_TRY(result.elements.emplace_back(), function(std::span<const Element>(operands)));
  }
  return result;
}

/// Returns the element of an array at coordinates of the shape to which it broadcasts.
template <class Element>
const Element& element_at(const ArrayOf<Element>& array, std::span<const std::int64_t> coordinates) {
  std::vector<std::int64_t> own;
  const std::size_t added = coordinates.size() - array.dims.size();
  for (std::size_t axis = 0; axis < array.dims.size(); ++axis)
    own.push_back(array.dims[axis] == 1 ? 0 : coordinates[added + axis]);
  return array.elements[flat_of(own, array.dims)];
}

}  // namespace padlock::onnx
