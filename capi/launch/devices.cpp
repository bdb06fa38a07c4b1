#include <fmt/format.h>

#include <string>
#include <vector>

#include "capi/error.h"
#include "capi/launch/context.h"
#include "capi/options.h"
#include "runtime/registry/devices.h"

/// The devices that were found, with their texts.
struct padlock_devices : padlock::capi::Counted<padlock_devices> {
  struct Device {
    padlock::runtime::DeviceInfo info;
    std::string name, architecture;
  };
  explicit padlock_devices(std::vector<Device> found) : list(std::move(found)) {}
  const std::vector<Device> list;
};

namespace padlock::capi {
namespace {

Result<padlock_devices*> list(const padlock_context& context) {
  std::vector<padlock_devices::Device> found;
  for (runtime::DeviceInfo& info : runtime::Devices::list()) {
    std::string name = info.id.to_string();
    std::string architecture = info.gpu ? info.gpu->architecture() : "";
    found.push_back({std::move(info), std::move(name), std::move(architecture)});
  }
  return make<padlock_devices>(context.allocator(), 0, std::move(found));
}

padlock_device_info info_of(const padlock_devices::Device& device) {
  padlock_device_info info{.struct_size = 0,
                           .name = device.name.c_str(),
                           .description = device.info.description.c_str(),
                           .available = device.info.available ? 1 : 0,
                           .multiprocessors = 0,
                           .gpu_name = "",
                           .architecture = device.architecture.c_str(),
                           .memory_bytes = 0,
                           .l2_bytes = 0,
                           .memory_bandwidth = 0,
                           .driver_version = 0,
                           .reserved = 0};
  if (const auto& gpu = device.info.gpu) {
    info.multiprocessors = gpu->multiprocessors;
    info.gpu_name = gpu->name.c_str();
    info.memory_bytes = gpu->memory_bytes;
    info.l2_bytes = gpu->l2_bytes;
    info.memory_bandwidth = gpu->memory_bandwidth;
    info.driver_version = gpu->driver_version;
  }
  return info;
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Status;

extern "C" {

PADLOCK_COUNTED_HANDLE(devices)

padlock_status padlock_devices_list(padlock_context* context, padlock_devices** devices, padlock_error** error) {
  return guarded_handle(context, "a context", devices, error, [&] { return list(*context); });
}

padlock_status padlock_device_check(padlock_context* context, const char* device, padlock_error** error) {
  return guarded(context, "a context", error, [&]() -> Status {
    PADLOCK_TRY(const auto id, padlock::runtime::DeviceId::parse(text_or(device, "host")));
    return padlock::runtime::Devices::check(id);
  });
}

size_t padlock_devices_count(const padlock_devices* devices) { return devices != nullptr ? devices->list.size() : 0; }

padlock_status padlock_devices_get(const padlock_devices* devices, size_t index, padlock_device_info* info,
                                   padlock_error** error) {
  return guarded(devices, "a list of devices", error, [&]() -> Status {
    PADLOCK_CHECK(check_index(index, devices->list.size()));
    return write_struct(info, info_of(devices->list[index]), "padlock_device_info");
  });
}

}  // extern "C"
