#pragma once

#include "onnx/node_import.h"

// Operators on sizes that a model computes in floats. Errors: refused if a step may be rounded.
namespace padlock::onnx {

/// Converts sizes to floats, floats to other floats, or floats to sizes.
Status fold_fraction_cast(NodeImport& node, ir::DType to);

Status fold_fraction_add(NodeImport& node);
Status fold_fraction_sub(NodeImport& node);
Status fold_fraction_mul(NodeImport& node);
Status fold_fraction_div(NodeImport& node);
Status fold_fraction_min(NodeImport& node);
Status fold_fraction_max(NodeImport& node);
Status fold_fraction_neg(NodeImport& node);
Status fold_fraction_abs(NodeImport& node);
Status fold_fraction_floor(NodeImport& node);
Status fold_fraction_ceil(NodeImport& node);

}  // namespace padlock::onnx
