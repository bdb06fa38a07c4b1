#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Reads a model's bytes, which the result borrows. Graphs inside attributes are not read, so that nothing nests.
/// Errors: invalid_argument for bytes that are no model, or one that ends in the middle; resource_exhausted beyond
/// onnx/limits.h.
[[nodiscard]] Result<Model> read_model(std::string_view bytes);

/// Reads the elements of one packed field as their bits: of floats and doubles those, of integers the 64 bits of the
/// number. Appends at most `most` elements. Error: invalid_argument for bytes that end in the middle.
[[nodiscard]] Status read_packed(ElementField field, std::string_view bytes, std::size_t most,
                                 std::vector<std::uint64_t>& bits);

}  // namespace padlock::onnx
