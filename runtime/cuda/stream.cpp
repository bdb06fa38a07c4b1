#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

Result<Stream> Stream::create(const Context& context) {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  CUstream handle = nullptr;
  PADLOCK_CHECK(context.call(context.driver().cuStreamCreate, &handle, kStreamNonBlocking));
  return Stream(context, handle, Handle(context, handle));
}

Status Stream::synchronize(std::string_view kernel) const {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(*context_));
  const CallSite site{.device = context_->ordinal(), .kernel = kernel};
  PADLOCK_TRY(const std::optional<bool> capturing, is_capturing(site));
  if (capturing.value_or(false))
    return failed_precondition("expected a stream that can be waited for, found one that a graph is captured from");
  const Driver& driver = context_->driver();
  return driver.call(driver.cuStreamSynchronize, site, handle_);
}

Result<std::optional<bool>> Stream::is_capturing() const {
  if (!context_->driver().cuStreamIsCapturing) return std::nullopt;
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return is_capturing({.device = context_->ordinal()});
}

Result<std::optional<bool>> Stream::is_capturing(const CallSite& site) const {
  const Driver& driver = context_->driver();
  if (!driver.cuStreamIsCapturing) return std::nullopt;
  auto status = CUstreamCaptureStatus::none;
  PADLOCK_CHECK(driver.call(driver.cuStreamIsCapturing, site, handle_, &status));
  return status != CUstreamCaptureStatus::none;
}

}  // namespace padlock::runtime::cuda
