#include "runtime/host/host_device.h"

#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "abi/gpu_targets.h"
#include "runtime/host/host_clock.h"
#include "runtime/host/host_info.h"
#include "runtime/host/host_scratch.h"
#include "runtime/host/system_memory.h"
#include "support/cpu_cache.h"

namespace padlock::runtime {
namespace {

class HostDeviceMemory final : public DeviceMemory {
 public:
  HostDeviceMemory(std::shared_ptr<HostMemory> memory, Allocation allocation)
      : memory_(std::move(memory)), allocation_(std::move(allocation)) {
    data_ = allocation_.data();
    bytes_ = allocation_.bytes();
  }
  ~HostDeviceMemory() override { memory_->give_back(); }

 private:
  [[nodiscard]] std::byte* on_host() const override { return allocation_.data(); }
  [[nodiscard]] Status write(std::int64_t, std::span<const std::byte>) override { return not_a_gpus(); }
  [[nodiscard]] Status read(std::int64_t, std::span<std::byte>) const override { return not_a_gpus(); }
  [[nodiscard]] Status copy_from(const DeviceMemory&, std::int64_t, std::int64_t, std::int64_t) override {
    return not_a_gpus();
  }
  static Status not_a_gpus() { return internal_error("expected memory of a GPU"); }

  std::shared_ptr<HostMemory> memory_;
  Allocation allocation_;
};

class HostQueue final : public Queue {
 public:
  [[nodiscard]] void* stream() const override { return nullptr; }
  [[nodiscard]] Status copy(void* to, const void* from, std::int64_t bytes) override {
    std::memmove(to, from, static_cast<std::size_t>(bytes));
    return {};
  }
  [[nodiscard]] Status fill(void* to, std::byte value, std::int64_t bytes) override {
    std::memset(to, std::to_integer<int>(value), static_cast<std::size_t>(bytes));
    return {};
  }
  [[nodiscard]] Status write(void* to, std::span<const std::byte> from) override {
    std::memcpy(to, from.data(), from.size());
    return {};
  }
  [[nodiscard]] Status read(std::span<std::byte> to, const void* from) override {
    std::memcpy(to.data(), from, to.size());
    return {};
  }
  [[nodiscard]] Status synchronize() override { return {}; }
  [[nodiscard]] Result<std::int64_t> time(std::int64_t count,
                                          const std::function<Status(std::int64_t)>& work) override {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count; ++i) PADLOCK_CHECK(work(i));
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    return took.count() * 1000;
  }
};

}  // namespace

Result<Allocation> HostMemory::allocate(std::int64_t bytes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (live_ == 0) budget_ = MemoryBudget::of_this_process();
  PADLOCK_TRY(Allocation made, budget_->allocate(bytes, what));
  ++live_;
  return made;
}

void HostMemory::give_back() {
  const std::lock_guard lock(mutex_);
  --live_;
}

DeviceFacts HostMemoryDevice::facts() const {
  const HostInfo info = host_info();
  DeviceFacts facts{.model = info.cpu};
  for (const auto& cache : {info.l2_bytes, info.l3_bytes})
    if (cache) facts.cache_bytes.push_back(*cache);
  facts.cache_cpus = cpus_sharing_cache(info.l3_bytes ? 3 : 2);
  return facts;
}

Status HostMemoryDevice::check_target(const std::string& target) const {
  if (abi::is_gpu(target) == abi::is_gpu(traits().target)) return {};
  return invalid_argument(fmt::format("expected a target of device {}, found {}", id().to_string(), target));
}

Result<std::int64_t> HostMemoryDevice::free_bytes() const { return available_memory(); }

Result<std::unique_ptr<DeviceMemory>> HostMemoryDevice::allocate(std::int64_t bytes, const std::string& what) const {
  PADLOCK_CHECK(check_bytes(bytes, what));
  PADLOCK_TRY(Allocation made, memory_->allocate(bytes, what));
  return std::make_unique<HostDeviceMemory>(memory_, std::move(made));
}

Result<std::unique_ptr<ScratchSpace>> HostMemoryDevice::make_scratch_space() const {
  return std::make_unique<HostScratchSpace>();
}

Result<std::unique_ptr<Queue>> HostMemoryDevice::make_queue() const { return std::make_unique<HostQueue>(); }

std::optional<double> HostMemoryDevice::clock() const { return host_clock(); }

}  // namespace padlock::runtime
