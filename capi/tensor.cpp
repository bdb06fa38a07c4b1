#include "capi/tensor.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace padlock::capi {
namespace {

std::uint8_t code_of(ir::DType dtype) {
  if (dtype == ir::DType::bf16) return kDLBfloat;
  switch (ir::kind_of(dtype)) {
    case ir::DTypeKind::floating:
      return kDLFloat;
    case ir::DTypeKind::signed_int:
      return kDLInt;
    case ir::DTypeKind::unsigned_int:
      return kDLUInt;
    case ir::DTypeKind::truth:
      return kDLBool;
  }
  return kDLUInt;
}

/// Returns "f32", or for a type that programs do not have "code 5, 64 bits, 1 lane".
std::string type_text(const DLDataType& type) {
  if (const auto dtype = dtype_of(type)) return std::string(ir::name_of(*dtype));
  return fmt::format("code {}, {} bits, {} lane{}", type.code, type.bits, type.lanes, type.lanes == 1 ? "" : "s");
}

bool lies(const DLDevice& device, const Place& place) {
  const auto type = static_cast<int>(device.device_type);
  switch (place.kind) {
    case Place::Kind::anywhere:
      return true;
    case Place::Kind::host:
      return type == kDLCPU || type == kDLCUDAHost || type == kDLCUDAManaged;
    case Place::Kind::gpu:
      return type == kDLCUDAManaged || (type == kDLCUDA && device.device_id == place.ordinal);
  }
  return false;
}

std::string text_of(const Place& place) {
  return place.kind == Place::Kind::gpu ? fmt::format("cuda:{}", place.ordinal) : "the host";
}

}  // namespace

DLDataType dl_type(ir::DType dtype) {
  return {.code = code_of(dtype), .bits = static_cast<std::uint8_t>(ir::bit_width(dtype)), .lanes = 1};
}

std::optional<ir::DType> dtype_of(const DLDataType& type) {
  for (const ir::DType dtype : ir::kAllDTypes) {
    const DLDataType known = dl_type(dtype);
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes) return dtype;
  }
  return std::nullopt;
}

Result<ir::ArgumentShape> shape_of(const DLTensor& tensor, const ir::Value& value, const Place& place) {
  const DLDataType expected = dl_type(value.dtype);
  if (tensor.dtype.code != expected.code || tensor.dtype.bits != expected.bits || tensor.dtype.lanes != expected.lanes)
    return invalid_argument(fmt::format("'{}' is of {}, a tensor of {} is given", value.name, ir::name_of(value.dtype),
                                        type_text(tensor.dtype)));
  // Before any extent is read: a tensor of the wrong rank may have no extents.
  if (tensor.ndim != value.rank())
    return invalid_argument(
        fmt::format("'{}' has rank {}, but a tensor of rank {} is given", value.name, value.rank(), tensor.ndim));
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return invalid_argument(fmt::format("expected the extents of '{}', found NULL", value.name));
  if (!lies(tensor.device, place))
    return invalid_argument(fmt::format("expected '{}' in memory of {}, found DLPack device {}:{}", value.name,
                                        text_of(place), static_cast<int>(tensor.device.device_type),
                                        tensor.device.device_id));
  ir::ArgumentShape shape{.extents = {tensor.shape, tensor.shape + tensor.ndim}, .strides = {}};
  if (tensor.strides != nullptr) shape.strides.emplace(tensor.strides, tensor.strides + tensor.ndim);
  return shape;
}

}  // namespace padlock::capi
