#pragma once

#include <memory>

#include "runtime/cuda/driver/driver.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// A context of one device, for making memory, modules, streams and events. Immutable, thread-safe: code that works in
/// it makes it current on the calling thread meanwhile (ContextScope). Everything made in a context borrows it and must
/// be dropped first.
class Context {
 public:
  /// Owned: a device's primary context, which CUDA's run time and PyTorch use, too. Retained until this is dropped.
  /// Errors: unavailable for a missing ordinal; else as the driver says.
  [[nodiscard]] static Result<std::unique_ptr<const Context>> retain_primary(std::shared_ptr<const Driver> driver,
                                                                             int ordinal);
  /// Borrowed: the context that is current on the calling thread. The caller keeps it alive. Error: failed_precondition
  /// if there is none.
  [[nodiscard]] static Result<std::unique_ptr<const Context>> borrow_current(std::shared_ptr<const Driver> driver);

  /// Borrowed: a caller's context, which outlives this and need not be current. Errors: as the driver says about an
  /// invalid handle.
  [[nodiscard]] static Result<std::unique_ptr<const Context>> borrow(std::shared_ptr<const Driver> driver,
                                                                     CUcontext handle);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const Driver& driver() const { return *driver_; }
  [[nodiscard]] int ordinal() const { return device_; }
  [[nodiscard]] CUcontext handle() const { return handle_; }

  /// Driver::call, with this device in the error's message.
  template <class Function, class... Arguments>
  [[nodiscard]] Status call(const Function& function, Arguments... arguments) const {
    return driver_->call(function, {.device = device_}, arguments...);
  }

 private:
  Context(std::shared_ptr<const Driver> driver, CUdevice device, CUcontext handle, bool owned)
      : driver_(std::move(driver)), device_(device), handle_(handle), owned_(owned) {}

  std::shared_ptr<const Driver> driver_;
  CUdevice device_;   // cuDeviceGet's handle, which is the ordinal
  CUcontext handle_;  // a retained primary context if owned_, else borrowed (outlives this)
  bool owned_;
};

/// Makes a context current on the calling thread while it lives, and restores the thread's stack of contexts. Takes one
/// driver call if the context is current already, else three. Legal while a stream is captured. Stays on its thread.
class ContextScope {
 public:
  [[nodiscard]] static Result<ContextScope> enter(const Context& context);
  ContextScope(ContextScope&& other) noexcept;
  ContextScope& operator=(ContextScope&&) = delete;
  ~ContextScope();

  [[nodiscard]] const Context& context() const { return *context_; }

 private:
  ContextScope(const Context& context, bool pushed) : context_(&context), pushed_(pushed) {}
  const Context* context_;  // borrowed (outlives this)
  bool pushed_;
};

/// While it lives, the calling thread may allocate and load code though a stream is being captured, by any thread: this
/// work does not belong to the stream. No effect if the driver lacks the function. Stays on its thread.
class BesideCapture {
 public:
  [[nodiscard]] static Result<BesideCapture> enter(const Context& context);
  BesideCapture(BesideCapture&& other) noexcept;
  BesideCapture& operator=(BesideCapture&&) = delete;
  ~BesideCapture();

 private:
  BesideCapture(const Context& context, CUstreamCaptureMode before, bool changed)
      : context_(&context), before_(before), changed_(changed) {}
  const Context* context_;  // borrowed (outlives this)
  CUstreamCaptureMode before_;
  bool changed_;
};

}  // namespace padlock::runtime::cuda
