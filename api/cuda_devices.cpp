#include "api/cuda_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/gpu_compiler.h"

namespace padlock::api {
namespace {

using runtime::cuda::Driver;

std::unexpected<Error> not_available(const Device& device, const std::string& reason) {
  return unavailable(fmt::format("device {} is not available: {}", device.to_string(), reason));
}

/// The caller's context where it is of this device, else the primary one.
Result<std::unique_ptr<const runtime::cuda::Context>> context_of(std::shared_ptr<const Driver> driver, int ordinal,
                                                                 void* borrowed) {
  using runtime::cuda::Context;
  if (borrowed != nullptr) {
    PADLOCK_TRY(auto context, Context::borrow(driver, static_cast<runtime::cuda::CUcontext>(borrowed)));
    if (context->ordinal() == ordinal) return context;
  }
  return Context::retain_primary(std::move(driver), ordinal);
}

Result<CudaDevice> open_device(const Device& device, void* borrowed) {
  PADLOCK_TRY(std::shared_ptr<const Driver> driver, find_driver(device));
  CudaDevice opened;
  PADLOCK_TRY(opened.facts, runtime::cuda::device_facts(*driver, device.ordinal));
  PADLOCK_TRY(opened.target, target_for(opened.facts));
  PADLOCK_TRY(opened.context, context_of(std::move(driver), device.ordinal, borrowed));
  return opened;
}

}  // namespace

Result<std::shared_ptr<const Driver>> find_driver(const Device& device) {
  auto driver = Driver::find();
  if (!driver) return not_available(device, driver.error().message);
  const auto count = runtime::cuda::device_count(**driver);
  if (!count) return not_available(device, count.error().message);
  if (device.ordinal >= *count)
    return not_available(device, fmt::format("{} has {} device{}", (*driver)->file, *count, *count == 1 ? "" : "s"));
  return driver;
}

Result<std::string> target_for(const runtime::cuda::DeviceFacts& facts) {
  std::string best = compiler::gpu_target_for(facts.compute_major, facts.compute_minor);
  if (best.empty())
    return not_available({DeviceKind::cuda, facts.ordinal},
                         fmt::format("{} is of {}, code can be made for {}", facts.name, facts.architecture(),
                                     fmt::join(compiler::gpu_targets(), ", ")));
  return best;
}

Status check_runs(const runtime::cuda::DeviceFacts& facts, const std::string& target) {
  if (compiler::gpu_target_number(target) <= 10 * facts.compute_major + facts.compute_minor) return {};
  return invalid_argument(fmt::format("expected a target that device cuda:{} ({}) runs, found {}", facts.ordinal,
                                      facts.architecture(), target));
}

Result<const CudaDevice*> CudaDevices::open(const Device& device) {
  const std::lock_guard lock(mutex_);
  if (const auto found = devices_.find(device.ordinal); found != devices_.end()) return &found->second;
  PADLOCK_TRY(CudaDevice opened, open_device(device, borrowed_));
  return &devices_.emplace(device.ordinal, std::move(opened)).first->second;
}

}  // namespace padlock::api
