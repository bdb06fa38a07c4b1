#include "runtime/cuda/clock.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

namespace padlock::runtime::cuda {
namespace {

// Declares the used part of the library's interface, nvml.h.
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockSm = 1;
using NvmlDevice = void*;

}  // namespace

/// Keeps the library open while it lives.
struct DeviceClock::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_by_pci_bus_id)(const char* bus_id, NvmlDevice* device) = nullptr;
  int (*clock_info)(NvmlDevice device, int clock, unsigned* megahertz) = nullptr;
  bool ready = false;

  explicit Library(const std::string& file) : handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    const bool found = find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
                       find(device_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
                       find(clock_info, "nvmlDeviceGetClockInfo");
    ready = found && init() == kNvmlSuccess;
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (ready) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

 private:
  template <class Function>
  bool find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(::dlsym(handle, symbol));
    return function != nullptr;
  }
};

DeviceClock::DeviceClock(std::unique_ptr<const Library> library, void* device)
    : library_(std::move(library)), device_(device) {}
DeviceClock::~DeviceClock() = default;

std::unique_ptr<DeviceClock> DeviceClock::open(const Driver& driver, int ordinal, const std::string& file) {
  CUdevice device = 0;
  int domain = 0, bus = 0, slot = 0;
  const auto read = [&](CUdevice_attribute attribute, int& value) {
    return driver.cuDeviceGetAttribute.address(&value, attribute, device) == CUresult::success;
  };
  // The two libraries may number devices differently; both know the devices' places on the bus.
  if (driver.cuDeviceGet.address(&device, ordinal) != CUresult::success) return nullptr;
  if (!read(CUdevice_attribute::pci_domain_id, domain) || !read(CUdevice_attribute::pci_bus_id, bus) ||
      !read(CUdevice_attribute::pci_device_id, slot))
    return nullptr;
  auto library = std::make_unique<const Library>(file);
  if (!library->ready) return nullptr;
  NvmlDevice found = nullptr;
  if (library->device_by_pci_bus_id(fmt::format("{:08x}:{:02x}:{:02x}.0", domain, bus, slot).c_str(), &found) !=
      kNvmlSuccess)
    return nullptr;
  return std::unique_ptr<DeviceClock>(new DeviceClock(std::move(library), found));
}

std::optional<double> DeviceClock::megahertz() const {
  unsigned megahertz = 0;
  if (library_->clock_info(device_, kNvmlClockSm, &megahertz) != kNvmlSuccess) return std::nullopt;
  return megahertz;
}

}  // namespace padlock::runtime::cuda
