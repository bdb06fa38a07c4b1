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

/// Memory of a device, freed on drop. Aligned to at least 256 bytes; not initialised. Movable. Borrows its context.
/// Allocating and freeing are illegal while a stream of the context is captured.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// `what` names the buffer in messages. Allocates nothing for 0 bytes. Errors: resource_exhausted, naming `what`, its
  /// bytes and, if the driver says, the free bytes; invalid_argument for bytes < 0.
  [[nodiscard]] static Result<DeviceBuffer> allocate(const Context& context, std::int64_t bytes,
                                                     const std::string& what);
  /// 0 when empty.
  [[nodiscard]] CUdeviceptr address() const { return memory_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The address as a launch's buffers hold it. The host must not follow it.
  [[nodiscard]] void* data() const { return std::bit_cast<void*>(address()); }

 private:
  DeviceBuffer(const Context& context, CUdeviceptr address, std::int64_t bytes)
      : memory_(context, address), bytes_(bytes) {}

  Owned<CUdeviceptr, &Driver::cuMemFree_v2> memory_;
  std::int64_t bytes_ = 0;
};

/// Returns the free bytes of the context's device; nullopt if the driver cannot say.
[[nodiscard]] Result<std::optional<std::int64_t>> free_memory(const Context& context);

// Queued on a stream: the memory, including the host's, must not change until the stream has reached the operation.
// Legal while the stream is captured. Do nothing for 0 bytes.

[[nodiscard]] Status enqueue_copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from);
[[nodiscard]] Status enqueue_copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from);
[[nodiscard]] Status enqueue_copy(const Stream& stream, CUdeviceptr to, CUdeviceptr from, std::int64_t bytes);
[[nodiscard]] Status enqueue_fill(const Stream& stream, CUdeviceptr to, std::byte value, std::int64_t bytes);

// The same, waiting for it and all earlier work of the stream. An error of an earlier launch shows here.

[[nodiscard]] Status copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from);
[[nodiscard]] Status copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from);

}  // namespace padlock::runtime::cuda
