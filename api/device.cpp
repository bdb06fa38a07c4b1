#include "api/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "api/cuda_devices.h"
#include "runtime/host_info.h"

namespace padlock::api {
namespace {

constexpr std::string_view kCudaPrefix = "cuda:";

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  return bytes >= kMiB && bytes % kMiB == 0 ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} KiB", bytes / 1024);
}

std::string describe_host() {
  const runtime::HostInfo info = runtime::host_info();
  std::string text = fmt::format("{}, {} thread{}", info.cpu, info.threads, info.threads == 1 ? "" : "s");
  if (info.l2_bytes) text += fmt::format(", L2 {}", size_text(*info.l2_bytes));
  if (info.l3_bytes) text += fmt::format(", L3 {}", size_text(*info.l3_bytes));
  return text;
}

std::string describe_gpu(const GpuInfo& gpu) {
  std::string text = fmt::format("{}, {}, {} multiprocessors, L2 {}, memory {}", gpu.name, gpu.architecture,
                                 gpu.multiprocessors, size_text(gpu.l2_bytes), size_text(gpu.memory_bytes));
  if (gpu.memory_bandwidth > 0) text += fmt::format(" at {} GB/s", gpu.memory_bandwidth / 1'000'000'000);
  return text;
}

DeviceInfo info_of(const runtime::cuda::DeviceFacts& facts) {
  DeviceInfo info{.device = {DeviceKind::cuda, facts.ordinal}};
  info.gpu = GpuInfo{.name = facts.name,
                     .architecture = facts.architecture(),
                     .multiprocessors = facts.multiprocessors,
                     .l2_bytes = facts.l2_bytes,
                     .memory_bytes = facts.memory_bytes,
                     .memory_bandwidth = facts.memory_bandwidth,
                     .driver_version = facts.driver_version};
  const auto target = target_for(facts);
  info.available = target.has_value();
  info.description = target ? describe_gpu(*info.gpu) : target.error().message;
  return info;
}

/// Each GPU.
Result<std::vector<DeviceInfo>> list_gpus() {
  PADLOCK_TRY(const auto driver, find_driver({DeviceKind::cuda}));
  PADLOCK_TRY(const std::vector<runtime::cuda::DeviceFacts> list, runtime::cuda::list_devices(*driver));
  std::vector<DeviceInfo> gpus;
  for (const runtime::cuda::DeviceFacts& facts : list) gpus.push_back(info_of(facts));
  return gpus;
}

}  // namespace

Result<Device> Device::parse(std::string_view text) {
  if (text == "host") return Device{DeviceKind::host};
  if (text == "reference") return Device{DeviceKind::reference};
  if (text == "simt") return Device{DeviceKind::simt};
  if (text.starts_with(kCudaPrefix)) {
    const std::string_view number = text.substr(kCudaPrefix.size());
    Device device{DeviceKind::cuda};
    const char* const first = number.data();
    const char* const last = first + number.size();
    const auto [end, error] = std::from_chars(first, last, device.ordinal);
    if (error == std::errc{} && end == last && device.ordinal >= 0) return device;
  }
  return invalid_argument(fmt::format("expected a device (host, reference, simt, cuda:0, ...), found '{}'", text));
}

std::string Device::to_string() const {
  switch (kind) {
    case DeviceKind::host:
      return "host";
    case DeviceKind::reference:
      return "reference";
    case DeviceKind::simt:
      return "simt";
    case DeviceKind::cuda:
      return fmt::format("cuda:{}", ordinal);
  }
  return {};
}

Status availability(const Device& device) {
  switch (device.kind) {
    case DeviceKind::host:
    case DeviceKind::reference:
    case DeviceKind::simt:
      return {};
    case DeviceKind::cuda: {
      PADLOCK_TRY(const auto driver, find_driver(device));
      PADLOCK_TRY(const auto facts, runtime::cuda::device_facts(*driver, device.ordinal));
      PADLOCK_CHECK(target_for(facts));
      return {};
    }
  }
  return {};
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices = {
      {.device = {DeviceKind::host}, .available = true, .description = describe_host()},
      {.device = {DeviceKind::reference}, .available = true, .description = "the interpreter, element by element"},
      {.device = {DeviceKind::simt}, .available = true, .description = "a GPU's kernels, run by this CPU"},
  };
  auto gpus = list_gpus();
  if (!gpus) gpus = std::vector{DeviceInfo{.device = {DeviceKind::cuda}, .description = gpus.error().message}};
  std::ranges::move(*gpus, std::back_inserter(devices));
  return devices;
}

}  // namespace padlock::api
