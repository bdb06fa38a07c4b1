#include "bench/gpu/rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/cuda/gpu_device.h"
#include "support/stopwatch.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

constexpr std::int64_t kBusyBytes = std::int64_t{64} << 20;
constexpr int kMaxBusyFills = 100;  // with kMaxCalls, below what a driver's queue holds

Facts facts_of(const runtime::Device& device) {
  const runtime::DeviceFacts known = device.facts();
  Facts facts{.device = device.id().to_string(),
              .name = known.model,
              .architecture = device.traits().target,
              .simulated = device.traits().emulated};
  if (!known.gpu) return facts;
  facts.multiprocessors = known.gpu->multiprocessors;
  facts.l2_bytes = known.gpu->l2_bytes;
  facts.memory_bytes = known.gpu->memory_bytes;
  facts.memory_bandwidth = known.gpu->memory_bandwidth;
  facts.driver_version = known.gpu->driver_version;
  return facts;
}

}  // namespace

Result<std::unique_ptr<Rig>> Rig::open(const std::string& device) {
  const auto id = runtime::DeviceId::parse(device);
  if (!id || (id->kind != runtime::DeviceKind::cuda && id->kind != runtime::DeviceKind::simt))
    return invalid_argument(fmt::format("expected a device (cuda:N or simt), found '{}'", device));
  std::unique_ptr<Rig> rig(new Rig);
  PADLOCK_TRY(rig->device_, rig->devices_.open(*id));
  if (const auto* gpu = dynamic_cast<const cuda::GpuDevice*>(rig->device_)) {
    PADLOCK_TRY(cuda::ContextScope scope, cuda::ContextScope::enter(gpu->context()));
    rig->current_.emplace(std::move(scope));
  }
  PADLOCK_TRY(rig->queue_, rig->device_->make_queue());
  rig->facts_ = facts_of(*rig->device_);
  PADLOCK_TRY(rig->compiler_, compiler::GpuCompiler::create(rig->facts_.architecture));
  if (!rig->facts_.simulated) PADLOCK_CHECK(rig->prepare_timing());
  return rig;
}

Status Rig::prepare_timing() {
  PADLOCK_TRY(busy_, device_->allocate(kBusyBytes, "the memory that keeps the device busy"));
  constexpr int kFills = 5;
  for (int turn = 0; turn < 2; ++turn) {  // the first warms up
    PADLOCK_TRY(const std::int64_t picoseconds, queue_->time([&]() -> Status {
      for (int i = 0; i < kFills; ++i) PADLOCK_CHECK(queue_->fill(busy_->data(), std::byte{0}, busy_->bytes()));
      return {};
    }));
    busy_ms_ = static_cast<double>(picoseconds) * 1e-9 / double{kFills};
  }
  return {};
}

Status Rig::keep_busy(double ms) {
  if (busy_ms_ <= 0) return {};  // simt, or a driver without a GPU
  const int fills = static_cast<int>(std::clamp(std::ceil(ms / busy_ms_), 1.0, double{kMaxBusyFills}));
  for (int i = 0; i < fills; ++i) PADLOCK_CHECK(queue_->fill(busy_->data(), std::byte{0}, busy_->bytes()));
  return {};
}

Result<double> Rig::time_ms(int calls, const std::function<Status(int)>& queue) {
  // The device is still busy with something else when the last call is queued, so none waits for the host.
  PADLOCK_CHECK(keep_busy(1.5 * calls * queue_ms_ + 0.02));
  PADLOCK_TRY(const std::int64_t picoseconds, queue_->time([&]() -> Status {
    const Stopwatch watch;
    for (int i = 0; i < calls; ++i) PADLOCK_CHECK(queue(i));
    queue_ms_ = std::clamp(watch.milliseconds() / std::max(calls, 1), 0.001, 0.1);
    return {};
  }));
  return static_cast<double>(picoseconds) * 1e-9;
}

}  // namespace padlock::bench::gpu
