#include "python/core/xla/handler.h"

#include <string>

namespace padlock::python::xla {
namespace {

const void* attribute(const Attributes& all, std::string_view name) {
  for (std::int64_t i = 0; i < all.size; ++i)
    if (std::string_view(all.names[i]->data, all.names[i]->size) == name) return all.list[i];
  fail(PADLOCK_INTERNAL, "XLA's call has no attribute " + std::string(name));
}

Place place_on_gpu(const Frame& frame) {
  const Api& api = *frame.api;
  StreamArguments stream{sizeof(stream), nullptr, frame.context, nullptr};
  if (api.stream(&stream) != nullptr) fail(PADLOCK_INTERNAL, "XLA tells no stream for a call on a GPU");
  OrdinalArguments ordinal{sizeof(ordinal), nullptr, frame.context, 0};
  if (api.struct_size >= sizeof(Api) && api.ordinal(&ordinal) != nullptr)
    fail(PADLOCK_INTERNAL, "XLA does not tell on which GPU a call is");
  return {{kDLCUDA, ordinal.ordinal}, stream.stream};
}

}  // namespace

std::span<const std::int64_t> integers(const Attributes& all, std::string_view name) {
  const auto& array = *static_cast<const Array*>(attribute(all, name));
  return {static_cast<const std::int64_t*>(array.data), array.size};
}

std::string_view text(const Attributes& all, std::string_view name) {
  const auto& bytes = *static_cast<const Bytes*>(attribute(all, name));
  return {bytes.data, bytes.size};
}

std::uint8_t bits_of_type(int type) {
  switch (type) {
    case 1:
    case 2:
    case 6:
    case 19:
    case 20:
    case 23:
    case 24:
    case 25:
    case 28:
    case 29:
    case 33:
      return 8;
    case 3:
    case 7:
    case 10:
    case 16:
      return 16;
    case 4:
    case 8:
    case 11:
      return 32;
    case 5:
    case 9:
    case 12:
    case 15:
      return 64;
    case 18:
      return 128;
    default:
      fail(PADLOCK_INVALID_ARGUMENT, "expected elements of whole bytes, found XLA's type " + std::to_string(type));
  }
}

Place place_of(const Frame& frame, bool on_gpu) { return on_gpu ? place_on_gpu(frame) : Place{}; }

DLTensor tensor_of(const Buffer& buffer, DLDataType type, const Place& place) {
  DLTensor tensor{};
  tensor.data = buffer.data;
  tensor.device = place.device;
  tensor.ndim = static_cast<std::int32_t>(buffer.rank);
  tensor.dtype = type;
  tensor.shape = buffer.extents;
  return tensor;
}

bool tell_version(Frame& frame) {
  for (Extension* next = frame.extensions; next != nullptr; next = next->next) {
    if (next->type != 1) continue;
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(next)->metadata;
    metadata.version.major = kMajor;
    metadata.version.minor = kMinor;
    return true;
  }
  return false;
}

Error* error_of(const Frame& frame, const char* message) {
  ErrorArguments arguments{sizeof(ErrorArguments), nullptr, message, PADLOCK_INVALID_ARGUMENT};
  return frame.api->make_error(&arguments);
}

}  // namespace padlock::python::xla
