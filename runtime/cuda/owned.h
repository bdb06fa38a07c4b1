#pragma once

#include <utility>

#include "runtime/cuda/context.h"

namespace padlock::runtime::cuda {

/// A driver's handle in a context, released on drop by the driver's function kRelease. Movable; borrows the context.
template <class T, auto kRelease>
class Owned {
 public:
  Owned() = default;
  Owned(const Context& context, T handle) : context_(&context), handle_(handle) {}
  Owned(Owned&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, T{})) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == T{}) return;
    // If the context cannot become current, release anyway: the handle identifies its context.
    const auto scope = ContextScope::enter(*context_);
    (context_->driver().*kRelease).address(handle_);
  }

  /// Precondition: constructed with a handle.
  [[nodiscard]] const Context& context() const { return *context_; }
  /// 0 or null if there is none.
  [[nodiscard]] T get() const { return handle_; }

 private:
  const Context* context_ = nullptr;  // borrowed (outlives this)
  T handle_{};
};

}  // namespace padlock::runtime::cuda
