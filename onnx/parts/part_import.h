#pragma once

#include "onnx/import.h"
#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Imports a model. Errors as import_model. If some nodes are refused, the error lists the parts that can be programs.
[[nodiscard]] Result<Import> import_whole(const Model& model, const ImportOptions& options);
/// Imports the part of a model that computes `options.outputs`. Errors as import_model.
[[nodiscard]] Result<Import> import_part(const Model& model, const ImportOptions& options);

}  // namespace padlock::onnx
