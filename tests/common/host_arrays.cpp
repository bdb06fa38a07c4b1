#include "tests/common/host_arrays.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/memory.h"

namespace padlock::testing {
namespace {

using api::BoundProgram;
using api::LaunchArguments;
using api::TensorInfo;
using runtime::UserBuffer;
using runtime::cuda::DeviceBuffer;
using runtime::cuda::Stream;

/// The widest access of a kernel.
constexpr std::uintptr_t kWidestBytes = 16;

/// An array and the buffer beside it.
struct Mirror {
  std::span<std::byte> array;  // borrowed (outlives this)
  DeviceBuffer buffer;
  std::int64_t offset = 0;  // of the array in the buffer, bytes

  [[nodiscard]] runtime::cuda::CUdeviceptr address() const {
    return buffer.address() + static_cast<std::uint64_t>(offset);
  }
  [[nodiscard]] UserBuffer on_device() const {
    return {static_cast<void*>(static_cast<std::byte*>(buffer.data()) + offset),
            static_cast<std::int64_t>(array.size())};
  }

  static Result<Mirror> make(const Stream& stream, const UserBuffer& array, const TensorInfo& tensor,
                             const char* role) {
    Mirror mirror;
    // No more than the program's: the rest of a caller's buffer is none of ours.
    const std::int64_t bytes = std::min(array.bytes(), tensor.storage_bytes);
    mirror.array = {static_cast<std::byte*>(array.data()), static_cast<std::size_t>(bytes)};
    const auto element = static_cast<std::uintptr_t>(ir::byte_size(tensor.dtype));
    const auto residue = reinterpret_cast<std::uintptr_t>(array.data()) % kWidestBytes;
    mirror.offset = bytes == 0 ? 0 : static_cast<std::int64_t>(residue / element * element);
    PADLOCK_TRY(mirror.buffer, DeviceBuffer::allocate(stream.context(), mirror.offset + bytes, role + tensor.name));
    PADLOCK_CHECK(runtime::cuda::copy_to_device(stream, mirror.address(), mirror.array));
    return mirror;
  }
};

Result<std::vector<Mirror>> mirrors_of(const Stream& stream, std::span<const UserBuffer> arrays,
                                       const std::vector<TensorInfo>& tensors, const char* role) {
  std::vector<Mirror> mirrors;
  for (std::size_t i = 0; i < std::min(arrays.size(), tensors.size()); ++i) {
    PADLOCK_TRY(Mirror mirror, Mirror::make(stream, arrays[i], tensors[i], role));
    mirrors.push_back(std::move(mirror));
  }
  return mirrors;
}

std::vector<UserBuffer> on_device(const std::vector<Mirror>& mirrors) {
  std::vector<UserBuffer> buffers;
  for (const Mirror& mirror : mirrors) buffers.push_back(mirror.on_device());
  return buffers;
}

Status launch_and_wait(const BoundProgram& program, const LaunchArguments& arguments) {
  PADLOCK_CHECK(program.launch(arguments));
  return program.synchronize(arguments.stream);
}

Status run_beside(const BoundProgram& program, const LaunchArguments& arrays, const Stream& stream) {
  PADLOCK_TRY(const std::vector<Mirror> inputs, mirrors_of(stream, arrays.inputs, program.inputs(), "input "));
  PADLOCK_TRY(const std::vector<Mirror> results, mirrors_of(stream, arrays.outputs, program.results(), "result "));
  const std::vector<UserBuffer> sources = on_device(inputs), targets = on_device(results);
  PADLOCK_CHECK(launch_and_wait(
      program, {.inputs = sources, .outputs = targets, .scalars = arrays.scalars, .stream = stream.handle()}));
  for (const Mirror& mirror : results)
    PADLOCK_CHECK(runtime::cuda::copy_to_host(stream, mirror.array, mirror.address()));
  return {};
}

}  // namespace

Status run_on_host_arrays(const BoundProgram& program, const LaunchArguments& arrays) {
  const api::Device& device = program.compiled().device();
  if (device.kind != api::DeviceKind::cuda) return launch_and_wait(program, arrays);
  PADLOCK_TRY(const auto driver, runtime::cuda::Driver::find());
  // The one that the program's own context has retained.
  PADLOCK_TRY(const auto context, runtime::cuda::Context::retain_primary(driver, device.ordinal));
  PADLOCK_TRY(const Stream stream, Stream::create(*context));
  return run_beside(program, arrays, stream);
}

}  // namespace padlock::testing
