#pragma once

#include <optional>
#include <string_view>

#include "runtime/cuda/owned.h"

namespace padlock::runtime::cuda {

/// A queue of work in a context, owned or a caller's. Movable; as thread-safe as the driver's streams.
class Stream {
 public:
  /// Owned: independent of the null stream. Destroyed on drop; queued work still runs.
  [[nodiscard]] static Result<Stream> create(const Context& context);
  /// Borrowed: `handle` is a CUstream of that context, or null for its default stream. Makes no driver call.
  [[nodiscard]] static Stream borrow(const Context& context, void* handle) {
    return {context, static_cast<CUstream>(handle)};
  }

  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] CUstream handle() const { return handle_; }

  /// Waits until all work of the stream is done, and returns its error, in which `kernel` (may be empty) is named.
  /// Would invalidate a capture of the stream: refused then (failed_precondition) if the driver reports captures.
  [[nodiscard]] Status synchronize(std::string_view kernel = {}) const;
  /// Returns whether a graph is being captured from the stream; nullopt if the driver cannot say.
  [[nodiscard]] Result<std::optional<bool>> is_capturing() const;

 private:
  using Handle = Owned<CUstream, &Driver::cuStreamDestroy_v2>;
  Stream(const Context& context, CUstream handle, Handle owned = {})
      : context_(&context), handle_(handle), owned_(std::move(owned)) {}
  [[nodiscard]] Result<std::optional<bool>> is_capturing(const CallSite& site) const;

  const Context* context_;  // borrowed (outlives this)
  CUstream handle_;         // owned_'s handle, or borrowed (outlives this)
  Handle owned_;
};

}  // namespace padlock::runtime::cuda
