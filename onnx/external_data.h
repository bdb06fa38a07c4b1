#pragma once

#include <string>

#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Reads `bytes` bytes of a constant from the file that it names, beside the model. With links followed, the file must
/// lie in `folder`. Errors: invalid_argument for a location outside it, or without a folder; data_loss for a file that
/// is too short; others of files.
[[nodiscard]] Result<std::string> read_external(const StoredTensor& tensor, const std::string& folder,
                                                std::size_t bytes);

}  // namespace padlock::onnx
