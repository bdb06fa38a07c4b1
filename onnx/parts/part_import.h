#pragma once

#include "onnx/import.h"
#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// Imports a model. Errors as import_model; that of a model which is refused for some of its nodes lists the parts that
/// are programs.
[[nodiscard]] Result<Import> import_whole(const Model& model, const ImportOptions& options);
/// Imports the part of a model that computes `options.outputs`. Errors as import_model.
[[nodiscard]] Result<Import> import_part(const Model& model, const ImportOptions& options);

}  // namespace padlock::onnx
