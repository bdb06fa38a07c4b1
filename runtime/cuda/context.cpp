#include "runtime/cuda/context.h"

#include <utility>

namespace padlock::runtime::cuda {

Result<std::unique_ptr<const Context>> Context::retain_primary(std::shared_ptr<const Driver> driver, int ordinal) {
  const CallSite site{.device = ordinal};
  CUdevice device = 0;
  PADLOCK_CHECK(driver->call(driver->cuDeviceGet, site, &device, ordinal));
  CUcontext handle = nullptr;
  PADLOCK_CHECK(driver->call(driver->cuDevicePrimaryCtxRetain, site, &handle, device));
  return std::unique_ptr<const Context>(new Context(std::move(driver), device, handle, true));
}

Result<std::unique_ptr<const Context>> Context::borrow_current(std::shared_ptr<const Driver> driver) {
  CUcontext handle = nullptr;
  PADLOCK_CHECK(driver->call(driver->cuCtxGetCurrent, {}, &handle));
  if (handle == nullptr) return failed_precondition("expected a current CUDA context on this thread, found none");
  CUdevice device = 0;
  PADLOCK_CHECK(driver->call(driver->cuCtxGetDevice, {}, &device));
  return std::unique_ptr<const Context>(new Context(std::move(driver), device, handle, false));
}

Result<std::unique_ptr<const Context>> Context::borrow(std::shared_ptr<const Driver> driver, CUcontext handle) {
  PADLOCK_CHECK(driver->call(driver->cuCtxPushCurrent_v2, {}, handle));
  CUdevice device = 0;
  const Status asked = driver->call(driver->cuCtxGetDevice, {}, &device);
  CUcontext popped = nullptr;
  PADLOCK_CHECK(driver->call(driver->cuCtxPopCurrent_v2, {}, &popped));
  PADLOCK_CHECK(asked);
  return std::unique_ptr<const Context>(new Context(std::move(driver), device, handle, false));
}

Context::~Context() {
  if (owned_) driver_->cuDevicePrimaryCtxRelease_v2.address(device_);
}

Result<ContextScope> ContextScope::enter(const Context& context) {
  CUcontext current = nullptr;
  PADLOCK_CHECK(context.call(context.driver().cuCtxGetCurrent, &current));
  if (current == context.handle()) return ContextScope(context, false);
  PADLOCK_CHECK(context.call(context.driver().cuCtxPushCurrent_v2, context.handle()));
  return ContextScope(context, true);
}

ContextScope::ContextScope(ContextScope&& other) noexcept
    : context_(other.context_), pushed_(std::exchange(other.pushed_, false)) {}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  if (pushed_) context_->driver().cuCtxPopCurrent_v2.address(&popped);
}

Result<BesideCapture> BesideCapture::enter(const Context& context) {
  const Driver& driver = context.driver();
  CUstreamCaptureMode mode = CUstreamCaptureMode::relaxed;
  if (!driver.cuThreadExchangeStreamCaptureMode) return BesideCapture(context, mode, false);
  PADLOCK_CHECK(context.call(driver.cuThreadExchangeStreamCaptureMode, &mode));
  return BesideCapture(context, mode, true);
}

BesideCapture::BesideCapture(BesideCapture&& other) noexcept
    : context_(other.context_), before_(other.before_), changed_(std::exchange(other.changed_, false)) {}

BesideCapture::~BesideCapture() {
  if (changed_) context_->driver().cuThreadExchangeStreamCaptureMode.address(&before_);
}

}  // namespace padlock::runtime::cuda
