#include "bench/gpu/rig.h"

#include <fmt/format.h>

#include "runtime/cuda/gpu_device.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

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
  PADLOCK_TRY(rig->compiler_, compiler::TargetCompiler::create(rig->facts_.architecture));
  return rig;
}

Result<double> Rig::time_ms(int calls, const std::function<Status(int)>& queue) {
  PADLOCK_TRY(const std::int64_t picoseconds,
              queue_->time(calls, [&](std::int64_t i) { return queue(static_cast<int>(i)); }));
  return static_cast<double>(picoseconds) * 1e-9;
}

}  // namespace padlock::bench::gpu
