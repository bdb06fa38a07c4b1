#include <bit>
#include <cstring>

#include "tests/runtime/cuda/fake_entry_points.h"

namespace padlock::runtime::cuda {
namespace {

/// A range of device memory that a copy may touch.
bool may_touch(FakeState& fake, CUdeviceptr address, std::size_t bytes) {
  return !fake.settings.bounds_checks || fake.allocation_of(address, bytes) != nullptr;
}

void* host(CUdeviceptr address) { return std::bit_cast<void*>(address); }

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  PADLOCK_ENTER(enter_unsafe, cuMemAlloc_v2);
  if (bytes == 0) return CUresult::invalid_value;
  const std::size_t used = fake.used_bytes();
  const auto room = static_cast<std::size_t>(fake.settings.memory_bytes);
  if (bytes > room || used > room - bytes) return CUresult::out_of_memory;
  constexpr std::size_t kGuard = 1 << 20;
  const FakeMemory memory = FakeMemory::map(bytes, fake.settings.bounds_checks ? kGuard : 0, fake.settings.flush_end,
                                            fake.settings.alignment);
  if (memory.data == nullptr) return CUresult::out_of_memory;
  *address = reinterpret_cast<CUdeviceptr>(memory.data);
  fake.allocations[*address] = {FakeState::current(), memory};
  ++fake.made_counts.allocations;
  return CUresult::success;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  PADLOCK_ENTER_GIVING_BACK(cuMemFree_v2);
  const auto found = fake.allocations.find(address);
  if (found == fake.allocations.end()) return fake.misuse("memory", CUresult::invalid_value);
  const bool captured = fake.invalidate_captures(found->second.context);
  found->second.memory.unmap();
  fake.allocations.erase(found);
  return first_of(status, captured ? CUresult::stream_capture_unsupported : CUresult::success);
}

CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  PADLOCK_ENTER(enter_context, cuMemGetInfo_v2);
  *total_bytes = *free_bytes = static_cast<std::size_t>(fake.settings.memory_bytes);
  *free_bytes -= std::min(*free_bytes, fake.used_bytes());
  return CUresult::success;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  PADLOCK_ENTER(enter_context, cuMemcpyHtoDAsync_v2);
  if (!may_touch(fake, to, bytes)) return CUresult::invalid_value;
  return fake.submit(stream, [=] { std::memcpy(host(to), from, bytes); });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  PADLOCK_ENTER(enter_context, cuMemcpyDtoHAsync_v2);
  if (!may_touch(fake, from, bytes)) return CUresult::invalid_value;
  return fake.submit(stream, [=] { std::memcpy(to, host(from), bytes); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  PADLOCK_ENTER(enter_context, cuMemcpyDtoDAsync_v2);
  if (!may_touch(fake, to, bytes) || !may_touch(fake, from, bytes)) return CUresult::invalid_value;
  return fake.submit(stream, [=] { std::memmove(host(to), host(from), bytes); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  PADLOCK_ENTER(enter_context, cuMemsetD8Async);
  if (!may_touch(fake, to, bytes)) return CUresult::invalid_value;
  return fake.submit(stream, [=, &fake] {
    fake.take_time(fake.settings.fill_milliseconds * static_cast<double>(bytes) / (1 << 20));
    std::memset(host(to), value, bytes);
  });
}

}  // namespace padlock::runtime::cuda
