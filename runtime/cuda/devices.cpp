#include "runtime/cuda/devices.h"

#include <array>

namespace padlock::runtime::cuda {
namespace {

/// Reads one device's facts; keeps the first error and asks nothing after it.
class FactReader {
 public:
  FactReader(const Driver& driver, int ordinal, CUdevice device)
      : driver_(driver), site_{.device = ordinal}, device_(device) {}

  int attribute(CUdevice_attribute attribute) {
    int value = 0;
    if (status_) status_ = driver_.call(driver_.cuDeviceGetAttribute, site_, &value, attribute, device_);
    return value;
  }

  std::int64_t memory_bytes() {
    std::size_t bytes = 0;
    if (status_) status_ = driver_.call(driver_.cuDeviceTotalMem_v2, site_, &bytes, device_);
    return static_cast<std::int64_t>(bytes);
  }

  std::string name() {
    std::array<char, 256> text{};
    // One less than the size, so that a driver that fills the whole room leaves the terminating zero.
    const int room = static_cast<int>(text.size()) - 1;
    if (status_) status_ = driver_.call(driver_.cuDeviceGetName, site_, text.data(), room, device_);
    return text.data();
  }

  std::int64_t memory_bandwidth() {
    const std::int64_t kilohertz = known_attribute(CUdevice_attribute::memory_clock_rate);
    const std::int64_t bus_bits = known_attribute(CUdevice_attribute::global_memory_bus_width);
    return kilohertz * 1000 * 2 * (bus_bits / 8);
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  /// Returns 0 for an attribute that the driver does not know: CUDA's run time has dropped its field of the memory
  /// clock.
  int known_attribute(CUdevice_attribute attribute) {
    int value = 0;
    if (!status_) return value;
    const CUresult result = driver_.cuDeviceGetAttribute.address(&value, attribute, device_);
    if (result == CUresult::success) return value;
    if (result != CUresult::invalid_value)
      status_ = std::unexpected(driver_.error_of(result, driver_.cuDeviceGetAttribute.name, site_));
    return 0;
  }

  const Driver& driver_;  // borrowed (outlives this)
  CallSite site_;
  CUdevice device_;
  Status status_;
};

}  // namespace

Result<int> device_count(const Driver& driver) {
  int count = 0;
  PADLOCK_CHECK(driver.call(driver.cuDeviceGetCount, {}, &count));
  return count;
}

Result<GpuFacts> device_facts(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  PADLOCK_CHECK(driver.call(driver.cuDeviceGet, {.device = ordinal}, &device, ordinal));
  FactReader reader(driver, ordinal, device);
  GpuFacts facts;
  facts.ordinal = ordinal;
  facts.name = reader.name();
  facts.compute_major = reader.attribute(CUdevice_attribute::compute_capability_major);
  facts.compute_minor = reader.attribute(CUdevice_attribute::compute_capability_minor);
  facts.multiprocessors = reader.attribute(CUdevice_attribute::multiprocessor_count);
  facts.max_grid_x = reader.attribute(CUdevice_attribute::max_grid_dim_x);
  facts.max_block_threads = reader.attribute(CUdevice_attribute::max_threads_per_block);
  facts.max_shared_bytes = reader.attribute(CUdevice_attribute::max_shared_memory_per_block);
  facts.l2_bytes = reader.attribute(CUdevice_attribute::l2_cache_size);
  facts.memory_bytes = reader.memory_bytes();
  facts.memory_bandwidth = reader.memory_bandwidth();
  facts.driver_version = driver.version;
  PADLOCK_CHECK(reader.status());
  return facts;
}

Result<std::vector<GpuFacts>> list_devices(const Driver& driver) {
  PADLOCK_TRY(const int count, device_count(driver));
  std::vector<GpuFacts> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    PADLOCK_TRY(GpuFacts facts, device_facts(driver, ordinal));
    devices.push_back(std::move(facts));
  }
  return devices;
}

}  // namespace padlock::runtime::cuda
