#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Reads a model from bytes, which the result borrows. Graphs inside attributes are not read, so nothing nests. Errors:
/// invalid_argument for bytes that are no model or end in the middle; resource_exhausted beyond onnx/limits.h.
[[nodiscard]] Result<Model> read_model(std::string_view bytes);

/// Reads the elements of one packed field as bits: a float's or double's own, and 64 bits of each integer. Appends at
/// most `most` elements. Error: invalid_argument for bytes that end in the middle.
[[nodiscard]] Status read_packed(ElementField field, std::string_view bytes, std::size_t most,
                                 std::vector<std::uint64_t>& bits);

}  // namespace padlock::onnx
