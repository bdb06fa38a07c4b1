#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "tests/runtime/cuda/fake_entry_points.h"

// Memory mapped at reserved addresses: a range is inaccessible except where cuMemSetAccess allows it.
namespace padlock::runtime::cuda {
namespace {

constexpr int kFresh = 0xA5;

void* host(CUdeviceptr address) { return std::bit_cast<void*>(address); }

bool is_reserved(const FakeState& fake, CUdeviceptr address, std::size_t bytes) {
  auto next = fake.reservations.upper_bound(address);
  if (next == fake.reservations.begin()) return false;
  const auto& [first, count] = *std::prev(next);
  return bytes <= count && address - first <= count - bytes;
}

bool is_whole(const FakeState& fake, std::size_t bytes) { return bytes != 0 && bytes % fake.settings.granularity == 0; }

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*, unsigned) {
  PADLOCK_ENTER(enter, cuMemGetAllocationGranularity);
  *bytes = fake.settings.granularity;
  return CUresult::success;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, std::uint64_t) {
  PADLOCK_ENTER(enter, cuMemAddressReserve);
  if (!is_whole(fake, bytes)) return CUresult::invalid_value;
  void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return CUresult::out_of_memory;
  *address = std::bit_cast<CUdeviceptr>(range);
  fake.reservations[*address] = bytes;
  ++fake.made_counts.allocations;
  return CUresult::success;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  PADLOCK_ENTER_GIVING_BACK(cuMemAddressFree);
  const auto found = fake.reservations.find(address);
  if (found == fake.reservations.end() || found->second != bytes)
    return fake.misuse("a range of addresses", CUresult::invalid_value);
  munmap(host(address), bytes);
  fake.reservations.erase(found);
  return status;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* kind,
                     std::uint64_t) {
  PADLOCK_ENTER(enter, cuMemCreate);
  if (!is_whole(fake, bytes) || kind->type != kMemAllocationPinned || kind->location.type != kMemLocationDevice)
    return CUresult::invalid_value;
  const std::size_t used = fake.used_bytes();
  const auto room = static_cast<std::size_t>(fake.settings.memory_bytes);
  if (bytes > room || used > room - bytes) return CUresult::out_of_memory;
  fake.physical.push_back(std::make_unique<FakePhysical>(FakePhysical{bytes}));
  *handle = std::bit_cast<std::uint64_t>(fake.physical.back().get());
  return CUresult::success;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  PADLOCK_ENTER_GIVING_BACK(cuMemRelease);
  return first_of(remove(fake, fake.physical, std::bit_cast<void*>(handle), "memory"), status);
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  std::uint64_t) {
  PADLOCK_ENTER(enter, cuMemMap);
  const auto found = find_handle(fake.physical, std::bit_cast<void*>(handle));
  if (found == fake.physical.end()) return fake.misuse("memory");
  if (!is_reserved(fake, address, bytes) || offset != 0 || (*found)->bytes != bytes) return CUresult::invalid_value;
  fake.mappings[address] = found->get();
  return CUresult::success;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  PADLOCK_ENTER(enter, cuMemSetAccess);
  if (!fake.mappings.contains(address) || count != 1 || access->flags != kMemAccessReadWrite)
    return CUresult::invalid_value;
  if (mprotect(host(address), bytes, PROT_READ | PROT_WRITE) != 0) return CUresult::out_of_memory;
  std::memset(host(address), kFresh, bytes);
  // The range is no mapping of its own: cuMemAddressFree gives it back.
  fake.allocations[address] = {.context = FakeState::current(),
                               .memory = {.data = static_cast<std::byte*>(host(address)), .bytes = bytes}};
  return CUresult::success;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  PADLOCK_ENTER_GIVING_BACK(cuMemUnmap);
  if (fake.mappings.erase(address) == 0) return fake.misuse("a mapping", CUresult::invalid_value);
  fake.allocations.erase(address);
  mprotect(host(address), bytes, PROT_NONE);
  return status;
}

}  // namespace padlock::runtime::cuda
