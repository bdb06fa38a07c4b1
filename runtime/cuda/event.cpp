#include "runtime/cuda/event.h"

#include <utility>

namespace padlock::runtime::cuda {

Result<Event> Event::create(const Context& context) {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  CUevent handle = nullptr;
  PADLOCK_CHECK(context.call(context.driver().cuEventCreate, &handle, kEventDefault));
  return Event(context, handle);
}

Event::Event(Event&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    destroy();
    context_ = other.context_;
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

Event::~Event() { destroy(); }

void Event::destroy() {
  if (handle_ == nullptr) return;
  const auto scope = ContextScope::enter(*context_);
  context_->driver().cuEventDestroy_v2.address(handle_);
}

Status Event::record(const Stream& stream) const {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return context_->call(context_->driver().cuEventRecord, handle_, stream.handle());
}

Status Event::synchronize() const {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return context_->call(context_->driver().cuEventSynchronize, handle_);
}

Result<float> Event::milliseconds_since(const Event& start) const {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(*context_));
  float milliseconds = 0;
  PADLOCK_CHECK(context_->call(context_->driver().cuEventElapsedTime, &milliseconds, start.handle_, handle_));
  return milliseconds;
}

}  // namespace padlock::runtime::cuda
