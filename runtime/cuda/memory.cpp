#include "runtime/cuda/memory.h"

#include <fmt/format.h>

#include <utility>

namespace padlock::runtime::cuda {
namespace {

/// Describes the requested and the free bytes, which the driver's own text omits.
std::string shortage(const Context& context, std::int64_t bytes, const std::string& what) {
  std::string text = fmt::format("{} needs {} bytes of device memory", what, bytes);
  const auto available = free_memory(context);
  if (available && *available) text += fmt::format(", {} are free", **available);
  return text;
}

}  // namespace

Result<DeviceBuffer> DeviceBuffer::allocate(const Context& context, std::int64_t bytes, const std::string& what) {
  if (bytes < 0) return invalid_argument(fmt::format("{} cannot have {} bytes", what, bytes));
  if (bytes == 0) return DeviceBuffer();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  CUdeviceptr address = 0;
  Status status = context.call(context.driver().cuMemAlloc_v2, &address, static_cast<std::size_t>(bytes));
  if (status) return DeviceBuffer(context, address, bytes);
  if (status.error().code != Code::resource_exhausted) return std::unexpected(std::move(status).error());
  return std::unexpected(std::move(status).error().in(shortage(context, bytes, what)));
}

Result<std::optional<std::int64_t>> free_memory(const Context& context) {
  const Driver& driver = context.driver();
  if (!driver.cuMemGetInfo_v2) return std::nullopt;
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  std::size_t available = 0;
  std::size_t total = 0;
  PADLOCK_CHECK(context.call(driver.cuMemGetInfo_v2, &available, &total));
  return static_cast<std::int64_t>(available);
}

Status enqueue_copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from) {
  if (from.empty()) return {};
  const Context& context = stream.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuMemcpyHtoDAsync_v2, to, from.data(), from.size(), stream.handle());
}

Status enqueue_copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty()) return {};
  const Context& context = stream.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuMemcpyDtoHAsync_v2, to.data(), from, to.size(), stream.handle());
}

Status enqueue_copy(const Stream& stream, CUdeviceptr to, CUdeviceptr from, std::int64_t bytes) {
  if (bytes == 0) return {};
  const Context& context = stream.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuMemcpyDtoDAsync_v2, to, from, static_cast<std::size_t>(bytes),
                      stream.handle());
}

Status enqueue_fill(const Stream& stream, CUdeviceptr to, std::byte value, std::int64_t bytes) {
  if (bytes == 0) return {};
  const Context& context = stream.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuMemsetD8Async, to, static_cast<unsigned char>(value),
                      static_cast<std::size_t>(bytes), stream.handle());
}

Status copy_to_device(const Stream& stream, CUdeviceptr to, std::span<const std::byte> from) {
  PADLOCK_CHECK(enqueue_copy_to_device(stream, to, from));
  return stream.synchronize();
}

Status copy_to_host(const Stream& stream, std::span<std::byte> to, CUdeviceptr from) {
  PADLOCK_CHECK(enqueue_copy_to_host(stream, to, from));
  return stream.synchronize();
}

}  // namespace padlock::runtime::cuda
