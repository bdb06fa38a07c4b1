#include "python/core/xla/pad_handler.h"

#include <cstring>
#include <string>
#include <string_view>

#include "python/core/pads/pad.h"
#include "python/core/xla/frame.h"

namespace padlock::python {
namespace {

const void* attribute(const xla::Attributes& all, std::string_view name) {
  for (std::int64_t i = 0; i < all.size; ++i)
    if (std::string_view(all.names[i]->data, all.names[i]->size) == name) return all.list[i];
  fail(PADLOCK_INTERNAL, "XLA's call has no attribute " + std::string(name));
}

std::span<const std::int64_t> integers(const xla::Attributes& all, std::string_view name) {
  const auto& array = *static_cast<const xla::Array*>(attribute(all, name));
  return {static_cast<const std::int64_t*>(array.data), array.size};
}

/// Returns the size of XLA's types as elements move: PRED, integers, floats, complex numbers.
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

/// The device of a call, and the stream for its work.
struct Place {
  DLDevice device{kDLCPU, 0};
  void* stream = nullptr;
};

Place place_on_gpu(const xla::Frame& frame) {
  const xla::Api& api = *frame.api;
  xla::StreamArguments stream{sizeof(stream), nullptr, frame.context, nullptr};
  if (api.stream(&stream) != nullptr) fail(PADLOCK_INTERNAL, "XLA tells no stream for a call on a GPU");
  xla::OrdinalArguments ordinal{sizeof(ordinal), nullptr, frame.context, 0};
  if (api.struct_size >= sizeof(xla::Api) && api.ordinal(&ordinal) != nullptr)
    fail(PADLOCK_INTERNAL, "XLA does not tell on which GPU a call is");
  return {{kDLCUDA, ordinal.ordinal}, stream.stream};
}

void run(const xla::Frame& frame, const Place& place) {
  const auto& from = *static_cast<const xla::Buffer*>(frame.arguments.list[0]);
  const auto& to = *static_cast<const xla::Buffer*>(frame.results.list[0]);
  DLTensor x{};
  x.data = from.data;
  x.device = place.device;
  x.ndim = static_cast<std::int32_t>(from.rank);
  x.dtype = {kDLUInt, bits_of_type(from.type), 1};
  x.shape = from.extents;
  const auto& mode = *static_cast<const xla::Bytes*>(attribute(frame.attributes, "mode"));
  const std::span<const std::int64_t> fill = integers(frame.attributes, "fill");
  pad_to(x, integers(frame.attributes, "low"), integers(frame.attributes, "high"), {mode.data, mode.size},
         {static_cast<std::uint64_t>(fill[0]), static_cast<std::uint64_t>(fill[1])}, to.data,
         {to.extents, static_cast<std::size_t>(to.rank)}, place.stream);
}

xla::Error* error_of(const xla::Frame& frame, const char* message) {
  xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message, PADLOCK_INVALID_ARGUMENT};
  return frame.api->make_error(&arguments);
}

/// Called from XLA's threads, without the GIL.
template <bool on_gpu>
xla::Error* handle(xla::Frame* frame) {
  for (xla::Extension* next = frame->extensions; next != nullptr; next = next->next) {
    if (next->type != 1) continue;
    xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(next)->metadata;
    metadata.version.major = xla::kMajor;
    metadata.version.minor = xla::kMinor;
    return nullptr;
  }
  const nb::gil_scoped_acquire acquired;
  try {
    run(*frame, on_gpu ? place_on_gpu(*frame) : Place{});
    return nullptr;
  } catch (const std::exception& error) {
    return error_of(*frame, error.what());
  }
}

}  // namespace

nb::object xla_pad_handler(bool on_gpu) {
  auto* const handler = on_gpu ? &handle<true> : &handle<false>;
  return owned(PyCapsule_New(reinterpret_cast<void*>(handler), nullptr, nullptr));
}

}  // namespace padlock::python
