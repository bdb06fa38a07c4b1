#pragma once

#include "runtime/cuda/owned.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// A point in a stream's work, with its time. Movable; destroyed on drop. Borrows its context.
class Event {
 public:
  [[nodiscard]] static Result<Event> create(const Context& context);
  /// Puts the event behind all work queued on the stream. Legal while the stream is captured.
  [[nodiscard]] Status record(const Stream& stream) const;
  /// Waits until the stream has reached the last recorded event.
  [[nodiscard]] Status synchronize() const;
  /// Returns whether the stream has reached it. Also reports an error of the work before it.
  [[nodiscard]] Result<bool> has_come() const;
  /// Returns milliseconds from `start` to this, with a resolution of about half a microsecond. Error:
  /// failed_precondition if the stream has not reached both.
  [[nodiscard]] Result<float> milliseconds_since(const Event& start) const;

 private:
  Event(const Context& context, CUevent handle) : event_(context, handle) {}

  Owned<CUevent, &Driver::cuEventDestroy_v2> event_;
};

}  // namespace padlock::runtime::cuda
