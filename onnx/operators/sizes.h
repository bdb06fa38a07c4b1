#pragma once

#include "onnx/node_import.h"

// Operators on sizes. The importer computes them itself; a kernel has nothing left to do.
namespace padlock::onnx {

Status import_shape(NodeImport& node);
Status import_size(NodeImport& node);

Status fold_add(NodeImport& node);
Status fold_sub(NodeImport& node);
Status fold_mul(NodeImport& node);
Status fold_div(NodeImport& node);
Status fold_mod(NodeImport& node);
Status fold_min(NodeImport& node);
Status fold_max(NodeImport& node);
Status fold_neg(NodeImport& node);
Status fold_abs(NodeImport& node);
Status fold_equal(NodeImport& node);
Status fold_less(NodeImport& node);
Status fold_less_or_equal(NodeImport& node);
Status fold_greater(NodeImport& node);
Status fold_greater_or_equal(NodeImport& node);
Status fold_not(NodeImport& node);
Status fold_where(NodeImport& node);

}  // namespace padlock::onnx
