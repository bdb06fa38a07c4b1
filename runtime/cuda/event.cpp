#include "runtime/cuda/event.h"

namespace padlock::runtime::cuda {

Result<Event> Event::create(const Context& context) {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  CUevent handle = nullptr;
  PADLOCK_CHECK(context.call(context.driver().cuEventCreate, &handle, kEventDefault));
  return Event(context, handle);
}

Status Event::record(const Stream& stream) const {
  const Context& context = event_.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuEventRecord, event_.get(), stream.handle());
}

Status Event::synchronize() const {
  const Context& context = event_.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  return context.call(context.driver().cuEventSynchronize, event_.get());
}

Result<bool> Event::has_come() const {
  const Context& context = event_.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  const auto& query = context.driver().cuEventQuery;
  const CUresult status = query.address(event_.get());
  if (status == CUresult::success || status == CUresult::not_ready) return status == CUresult::success;
  return std::unexpected(context.driver().error_of(status, query.name, {.device = context.ordinal()}));
}

Result<float> Event::milliseconds_since(const Event& start) const {
  const Context& context = event_.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  float milliseconds = 0;
  PADLOCK_CHECK(context.call(context.driver().cuEventElapsedTime, &milliseconds, start.event_.get(), event_.get()));
  return milliseconds;
}

}  // namespace padlock::runtime::cuda
