#pragma once

#include "ir/operation.h"
#include "onnx/node_import.h"

// Operators that compute element by element, activations among them.
namespace padlock::onnx {

/// Imports a node as one operation of the language, which has as many inputs.
[[nodiscard]] Status import_operation(NodeImport& node, ir::Op op);
template <ir::Op op>
[[nodiscard]] Status import_as(NodeImport& node) {
  return import_operation(node, op);
}

/// Error: refused if the operation does not take operands of that type.
[[nodiscard]] Status check_type(ir::Op op, ir::DType dtype);

Status import_div(NodeImport& node);
Status import_mod(NodeImport& node);
Status import_xor(NodeImport& node);
Status import_where(NodeImport& node);
Status import_max(NodeImport& node);
Status import_min(NodeImport& node);
Status import_sum(NodeImport& node);
Status import_mean(NodeImport& node);
Status import_reciprocal(NodeImport& node);
Status import_is_nan(NodeImport& node);
Status import_is_inf(NodeImport& node);
Status import_cast(NodeImport& node);
Status import_cast_like(NodeImport& node);
Status import_clip(NodeImport& node);
Status import_leaky_relu(NodeImport& node);
Status import_prelu(NodeImport& node);
Status import_thresholded_relu(NodeImport& node);
Status import_hard_sigmoid(NodeImport& node);
Status import_hard_swish(NodeImport& node);
Status import_gelu(NodeImport& node);
Status import_swish(NodeImport& node);
Status import_elu(NodeImport& node);
Status import_selu(NodeImport& node);
Status import_celu(NodeImport& node);
Status import_mish(NodeImport& node);
Status import_softsign(NodeImport& node);
Status import_shrink(NodeImport& node);

}  // namespace padlock::onnx
