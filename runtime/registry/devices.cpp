#include "runtime/registry/devices.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "runtime/host/host_memory.h"

namespace padlock::runtime {
namespace {

/// In the order of listing. A build without CUDA has no GPUs.
std::vector<const DeviceFamily*> families() {
  std::vector<const DeviceFamily*> all = {&host_family(), &reference_family(), &simt_family()};
#ifdef PADLOCK_CUDA
  all.push_back(&cuda::gpu_family());
#endif
  return all;
}

std::unexpected<Error> not_built(const DeviceId& id) {
  return unavailable(
      fmt::format("device {} is not available: this build has no CUDA (PADLOCK_CUDA is off)", id.to_string()));
}

Result<const DeviceFamily*> family_of(const DeviceId& id) {
  for (const DeviceFamily* family : families())
    if (family->kind == id.kind) return family;
  return not_built(id);
}

}  // namespace

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  return bytes >= kMiB && bytes % kMiB == 0 ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} KiB", bytes / 1024);
}

Devices::Devices(const DeviceOptions& options) : options_(options), memory_(std::make_shared<HostMemory>()) {}

Result<const Device*> Devices::open(const DeviceId& id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = devices_.find(id); found != devices_.end()) return found->second.get();
  PADLOCK_TRY(const DeviceFamily* const family, family_of(id));
  PADLOCK_TRY(std::unique_ptr<const Device> opened, family->open(id, options_, memory_));
  return devices_.emplace(id, std::move(opened)).first->second.get();
}

Status Devices::check(const DeviceId& id) {
  PADLOCK_TRY(const DeviceFamily* const family, family_of(id));
  return family->check(id);
}

std::vector<DeviceInfo> Devices::list() {
  std::vector<DeviceInfo> devices;
  for (const DeviceFamily* family : families()) std::ranges::move(family->list(), std::back_inserter(devices));
  constexpr DeviceId kGpu{DeviceKind::cuda};
  if (std::ranges::none_of(devices, [](const DeviceInfo& info) { return info.id.kind == DeviceKind::cuda; }))
    devices.push_back({.id = kGpu, .description = not_built(kGpu).error().message});
  return devices;
}

}  // namespace padlock::runtime
