#include "api/device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>

#include "runtime/host_info.h"

namespace padlock::api {
namespace {

constexpr std::string_view kCudaPrefix = "cuda:";
constexpr const char* kDriver = "libcuda.so.1";

bool driver_is_here() {
  void* const library = ::dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

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
    case DeviceKind::cuda:
      if (!driver_is_here())
        return unavailable(
            fmt::format("device {} is not available: looked for {} and found none", device.to_string(), kDriver));
      return unavailable(fmt::format("device {} is not available: {} is here, but this version is built without CUDA",
                                     device.to_string(), kDriver));
  }
  return {};
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices = {
      {.device = {DeviceKind::host}, .available = true, .description = describe_host()},
      {.device = {DeviceKind::reference}, .available = true, .description = "the interpreter, element by element"},
      {.device = {DeviceKind::simt}, .available = true, .description = "a GPU's kernels, run by this CPU"},
  };
  const Device cuda{DeviceKind::cuda};
  const Status status = availability(cuda);
  devices.push_back({cuda, status.has_value(), status ? std::string() : status.error().message});
  return devices;
}

}  // namespace padlock::api
