#pragma once

#include "onnx/node_import.h"

// Operators that move elements, or make tensors without inputs. If the input is sizes, so is the result.
namespace padlock::onnx {

Status import_pad(NodeImport& node);
Status import_center_crop_pad(NodeImport& node);
Status import_tile(NodeImport& node);
Status import_expand(NodeImport& node);
Status import_concat(NodeImport& node);
Status import_split(NodeImport& node);
Status import_transpose(NodeImport& node);
Status import_slice(NodeImport& node);
Status import_gather(NodeImport& node);
Status import_gather_nd(NodeImport& node);
Status import_trilu(NodeImport& node);

Status import_reshape(NodeImport& node);
Status import_flatten(NodeImport& node);
Status import_squeeze(NodeImport& node);
Status import_unsqueeze(NodeImport& node);
Status import_depth_to_space(NodeImport& node);
Status import_space_to_depth(NodeImport& node);

Status import_identity(NodeImport& node);
Status import_dropout(NodeImport& node);
Status import_constant(NodeImport& node);
Status import_constant_of_shape(NodeImport& node);
Status import_range(NodeImport& node);

}  // namespace padlock::onnx
