#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/cuda/owned.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// Memory of a device, given back when it is dropped. Aligned to 256 bytes at least; what is in it at first is not
/// known. Movable. Borrows its context. Making and dropping one are illegal while a stream of the context is captured.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// `what` names the buffer in the message. Nothing is allocated for 0 bytes. Errors: resource_exhausted, naming
  /// `what`, the bytes that it needs and those that are free where the driver says; invalid_argument for bytes < 0.
  [[nodiscard]] static Result<DeviceBuffer> allocate(const Context& context, std::int64_t bytes,
                                                     const std::string& what);
  /// 0 when empty.
  [[nodiscard]] CUdeviceptr address() const { return memory_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The address as the launch's buffers have it. Not to be followed on the host.
  [[nodiscard]] void* data() const { return std::bit_cast<void*>(address()); }

 private:
  DeviceBuffer(const Context& context, CUdeviceptr address, std::int64_t bytes)
      : memory_(context, address), bytes_(bytes) {}

  Owned<CUdeviceptr, &Driver::cuMemFree_v2> memory_;
  std::int64_t bytes_ = 0;
};

/// Bytes of the context's device that nobody uses. nullopt where the driver cannot say.
[[nodiscard]] Result<std::optional<std::int64_t>> free_memory(const Context& context);

// Queued on a stream: the memory, the host's too, stays as it is until the stream has got there. Legal while the
// stream is captured. Nothing is done for 0 bytes.

[[nodiscard]] Status enqueue_copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from);
[[nodiscard]] Status enqueue_copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from);
[[nodiscard]] Status enqueue_copy(const Stream& stream, CUdeviceptr to, CUdeviceptr from, std::int64_t bytes);
[[nodiscard]] Status enqueue_fill(const Stream& stream, CUdeviceptr to, std::byte value, std::int64_t bytes);

// The same, waiting until it is done, with all that the stream had before. An error of an earlier launch shows here.

[[nodiscard]] Status copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from);
[[nodiscard]] Status copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from);

}  // namespace padlock::runtime::cuda
