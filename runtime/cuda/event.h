#pragma once

#include "runtime/cuda/owned.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// A point in a stream's work, with its time. Movable; destroyed when it is dropped. Borrows its context.
class Event {
 public:
  [[nodiscard]] static Result<Event> create(const Context& context);
  /// Puts the event behind all work that the stream has. Legal while the stream is captured.
  [[nodiscard]] Status record(const Stream& stream) const;
  /// Waits until the event that was recorded last has come.
  [[nodiscard]] Status synchronize() const;
  /// Returns whether it has come. An error of the work before it shows here, too.
  [[nodiscard]] Result<bool> has_come() const;
  /// Milliseconds from `start` to this, both of which have come; about half a microsecond fine.
  /// Error: failed_precondition, where one has not come yet.
  [[nodiscard]] Result<float> milliseconds_since(const Event& start) const;

 private:
  Event(const Context& context, CUevent handle) : event_(context, handle) {}

  Owned<CUevent, &Driver::cuEventDestroy_v2> event_;
};

}  // namespace padlock::runtime::cuda
