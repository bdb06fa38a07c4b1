#include "tests/common/host_arrays.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace padlock::testing {
namespace {

using runtime::UserBuffer;
using session::BoundProgram;
using session::LaunchArguments;
using session::TensorInfo;

/// The widest access of a kernel.
constexpr std::uintptr_t kWidestBytes = 16;

/// An array and the device's memory beside it.
struct Mirror {
  std::span<std::byte> array;  // borrowed (outlives this)
  std::unique_ptr<runtime::DeviceMemory> memory;
  std::int64_t offset = 0;  // of the array in the memory, bytes

  [[nodiscard]] void* address() const { return static_cast<std::byte*>(memory->data()) + offset; }

  static Result<Mirror> make(const runtime::Device& device, runtime::Queue& queue, const UserBuffer& array,
                             const TensorInfo& tensor, const char* role) {
    Mirror mirror;
    // Only the tensor's own bytes: the rest of a caller's buffer must not be touched.
    const std::int64_t bytes = std::min(array.bytes(), tensor.storage_bytes);
    mirror.array = {static_cast<std::byte*>(array.data()), static_cast<std::size_t>(bytes)};
    const auto element = static_cast<std::uintptr_t>(ir::byte_size(tensor.dtype));
    const auto residue = reinterpret_cast<std::uintptr_t>(array.data()) % kWidestBytes;
    mirror.offset = bytes == 0 ? 0 : static_cast<std::int64_t>(residue / element * element);
    PADLOCK_TRY(mirror.memory, device.allocate(mirror.offset + bytes, role + tensor.name));
    PADLOCK_CHECK(queue.write(mirror.address(), mirror.array));
    return mirror;
  }
};

Result<std::vector<Mirror>> mirrors_of(const runtime::Device& device, runtime::Queue& queue,
                                       std::span<const UserBuffer> arrays, const std::vector<TensorInfo>& tensors,
                                       const char* role) {
  std::vector<Mirror> mirrors;
  for (std::size_t i = 0; i < std::min(arrays.size(), tensors.size()); ++i) {
    PADLOCK_TRY(Mirror mirror, Mirror::make(device, queue, arrays[i], tensors[i], role));
    mirrors.push_back(std::move(mirror));
  }
  return mirrors;
}

std::vector<UserBuffer> on_device(const std::vector<Mirror>& mirrors) {
  std::vector<UserBuffer> buffers;
  for (const Mirror& mirror : mirrors)
    buffers.emplace_back(mirror.address(), static_cast<std::int64_t>(mirror.array.size()));
  return buffers;
}

Status launch_and_wait(const BoundProgram& program, const LaunchArguments& arguments) {
  PADLOCK_CHECK(program.launch(arguments));
  return program.synchronize(arguments.stream);
}

Status run_beside(const BoundProgram& program, const LaunchArguments& arrays, const runtime::Device& device) {
  PADLOCK_TRY(const std::unique_ptr<runtime::Queue> queue, device.make_queue());
  PADLOCK_TRY(const auto inputs, mirrors_of(device, *queue, arrays.inputs, program.inputs(), "input "));
  PADLOCK_TRY(const auto results, mirrors_of(device, *queue, arrays.outputs, program.results(), "result "));
  const std::vector<UserBuffer> sources = on_device(inputs), targets = on_device(results);
  PADLOCK_CHECK(launch_and_wait(
      program, {.inputs = sources, .outputs = targets, .scalars = arrays.scalars, .stream = queue->stream()}));
  for (const Mirror& mirror : results) PADLOCK_CHECK(queue->read(mirror.array, mirror.address()));
  return {};
}

}  // namespace

Status run_on_host_arrays(const BoundProgram& program, const LaunchArguments& arrays) {
  const runtime::Device& device = program.compiled().device();
  return device.traits().host_memory ? launch_and_wait(program, arrays) : run_beside(program, arrays, device);
}

}  // namespace padlock::testing
