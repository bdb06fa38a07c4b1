#include <cstring>
#include <string_view>

#include "tests/runtime/cuda/fake_entry_points.h"

namespace padlock::runtime::cuda {
namespace {

struct KnownSymbol {
  std::string_view name;
  int version;
  void* address;
};

const KnownSymbol kSymbols[] = {
#define PADLOCK_SYMBOL(symbol, version, parameters) {#symbol, version, reinterpret_cast<void*>(&symbol)},
    PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_SYMBOL) PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_SYMBOL)
        PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_SYMBOL)
#undef PADLOCK_SYMBOL
};

struct StatusText {
  CUresult status;
  const char* name;
};

constexpr StatusText kTexts[] = {{CUresult::success, "CUDA_SUCCESS"},
#define PADLOCK_TEXT(enumerator, name, value, code) {CUresult::enumerator, #name},
                                 PADLOCK_CUDA_STATUSES(PADLOCK_TEXT)
#undef PADLOCK_TEXT
};

CUresult text_of(CUresult status, const char** text, bool lower) {
  for (const StatusText& entry : kTexts) {
    if (entry.status != status) continue;
    *text = lower ? "as the fake driver was told" : entry.name;
    return CUresult::success;
  }
  *text = nullptr;
  return CUresult::invalid_value;
}

bool is_device(const FakeState& fake, CUdevice device) { return device >= 0 && device < fake.settings.devices; }

}  // namespace

CUresult cuGetErrorName(CUresult status, const char** text) { return text_of(status, text, false); }
CUresult cuGetErrorString(CUresult status, const char** text) { return text_of(status, text, true); }

CUresult cuDriverGetVersion(int* version) {
  PADLOCK_ENTER(enter, cuDriverGetVersion);
  *version = fake.settings.driver_version;
  return CUresult::success;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags,
                             CUdriverProcAddressQueryResult* found) {
  PADLOCK_ENTER(enter, cuGetProcAddress_v2);
  *function = nullptr;
  *found = CUdriverProcAddressQueryResult::symbol_not_found;
  if (flags > kProcAddressLegacyStream) return CUresult::invalid_value;
  for (const KnownSymbol& known : kSymbols) {
    const std::string_view base = known.name.substr(0, known.name.rfind("_v"));
    if (base != symbol || fake.hides(known.name)) continue;
    *found = version < known.version ? CUdriverProcAddressQueryResult::version_not_sufficient
                                     : CUdriverProcAddressQueryResult::success;
    if (*found == CUdriverProcAddressQueryResult::success) *function = known.address;
  }
  return *function == nullptr ? CUresult::not_found : CUresult::success;
}

CUresult cuInit(unsigned flags) {
  PADLOCK_ENTER(enter, cuInit);
  if (flags != 0) return CUresult::invalid_value;
  if (fake.settings.devices == 0) return CUresult::no_device;
  fake.initialized = true;
  return CUresult::success;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  PADLOCK_ENTER(enter, cuDeviceGet);
  if (!is_device(fake, ordinal)) return CUresult::invalid_device;
  *device = ordinal;
  return CUresult::success;
}

CUresult cuDeviceGetCount(int* count) {
  PADLOCK_ENTER(enter, cuDeviceGetCount);
  *count = fake.settings.devices;
  return CUresult::success;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  PADLOCK_ENTER(enter, cuDeviceGetName);
  if (!is_device(fake, device)) return CUresult::invalid_device;
  std::strncpy(name, fake.settings.name.c_str(), static_cast<std::size_t>(bytes));
  return CUresult::success;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  PADLOCK_ENTER(enter, cuDeviceGetAttribute);
  if (!is_device(fake, device)) return CUresult::invalid_device;
  switch (attribute) {
    case CUdevice_attribute::max_threads_per_block:
      *value = 1024;
      break;
    case CUdevice_attribute::max_grid_dim_x:
      *value = fake.settings.max_grid_x;
      break;
    case CUdevice_attribute::max_shared_memory_per_block:
      *value = 49152;
      break;
    case CUdevice_attribute::multiprocessor_count:
      *value = fake.settings.multiprocessors;
      break;
    case CUdevice_attribute::memory_clock_rate:
      *value = 2619000;
      break;
    case CUdevice_attribute::global_memory_bus_width:
      *value = 5120;
      break;
    case CUdevice_attribute::l2_cache_size:
      *value = 50 << 20;
      break;
    case CUdevice_attribute::pci_domain_id:
      *value = 1;
      break;
    case CUdevice_attribute::pci_bus_id:
      *value = 0x3b;
      break;
    case CUdevice_attribute::pci_device_id:
      *value = device;
      break;
    case CUdevice_attribute::compute_capability_major:
      *value = fake.settings.compute_major;
      break;
    case CUdevice_attribute::compute_capability_minor:
      *value = fake.settings.compute_minor;
      break;
  }
  return CUresult::success;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  PADLOCK_ENTER(enter, cuDeviceTotalMem_v2);
  if (!is_device(fake, device)) return CUresult::invalid_device;
  *bytes = static_cast<std::size_t>(fake.settings.memory_bytes);
  return CUresult::success;
}

}  // namespace padlock::runtime::cuda
