#pragma once

#include <string>

#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Reads a constant's bytes from the file beside the model that it names: `bytes` of them, no more, and none from a
/// file that lies outside of `folder`, links followed. Errors: invalid_argument for a location that is not inside, or
/// without a folder; data_loss for a file that is too short; else the file's.
[[nodiscard]] Result<std::string> read_external(const StoredTensor& tensor, const std::string& folder,
                                                std::size_t bytes);

}  // namespace padlock::onnx
