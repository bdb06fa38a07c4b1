#include "python/core/xla/pad_handler.h"

#include "python/core/pads/pad.h"
#include "python/core/xla/handler.h"

namespace padlock::python {
namespace {

void pad_buffers(const xla::Frame& frame, const xla::Place& place) {
  const auto& from = *static_cast<const xla::Buffer*>(frame.arguments.list[0]);
  const auto& to = *static_cast<const xla::Buffer*>(frame.results.list[0]);
  const DLTensor x = xla::tensor_of(from, {kDLUInt, xla::bits_of_type(from.type), 1}, place);
  const std::span<const std::int64_t> fill = xla::integers(frame.attributes, "fill");
  pad_to(x, xla::integers(frame.attributes, "low"), xla::integers(frame.attributes, "high"),
         xla::text(frame.attributes, "mode"),
         {static_cast<std::uint64_t>(fill[0]), static_cast<std::uint64_t>(fill[1])}, to.data,
         {to.extents, static_cast<std::size_t>(to.rank)}, place.stream);
}

}  // namespace

nb::object xla_pad_handler(bool on_gpu) { return xla::handler_of<&pad_buffers>(on_gpu); }

}  // namespace padlock::python
