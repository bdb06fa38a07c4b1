#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include "padlock/padlock.h"
#include "support/fork.h"

// Reference-counted objects in the caller's memory: the handles of the C API.
namespace padlock::capi {

/// Returns malloc and free, for callers without an allocator.
[[nodiscard]] padlock_allocator standard_allocator();

/// A block of memory with its allocator, which frees it.
struct Block {
  padlock_allocator allocator = {};
  std::size_t bytes = 0;
  std::size_t alignment = 0;

  /// Throws std::bad_alloc.
  [[nodiscard]] void* allocate() const;
  void give_back(void* memory) const noexcept { allocator.release(allocator.user, memory, bytes, alignment); }
};

/// Base of T. `make` puts T into a block with one reference; the last release destroys it.
template <class T>
class Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const ForkGuard inside;
    if (inside.refuses()) return;  // not destroyed: its locks may be held by a thread that the fork left behind
    const Block block = block_;
    auto* const object = static_cast<T*>(this);
    object->~T();
    block.give_back(object);
  }
  [[nodiscard]] const padlock_allocator& allocator() const { return block_.allocator; }

 private:
  friend T;
  constexpr Counted() = default;
  ~Counted() = default;

  template <class U, class... Arguments>
  friend U* make(const padlock_allocator& allocator, std::size_t extra_bytes, Arguments&&... arguments);

  // Raised relaxed: who does holds a reference. Lowered with release, and with acquire by the last: all uses lie before
  // the destructor.
  std::atomic<int> references_ = 1;
  Block block_;
};

/// Makes an object with `extra_bytes` behind it. Throws std::bad_alloc and the constructor's exceptions; then nothing
/// is kept.
template <class T, class... Arguments>
[[nodiscard]] T* make(const padlock_allocator& allocator, std::size_t extra_bytes, Arguments&&... arguments) {
  const Block block{allocator, sizeof(T) + extra_bytes, alignof(T)};
  void* const memory = block.allocate();
  try {
    T* const object = new (memory) T(std::forward<Arguments>(arguments)...);
    object->block_ = block;
    return object;
  } catch (...) {
    block.give_back(memory);
    throw;
  }
}

/// Holds one reference.
template <class T>
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference.
  explicit Ref(T* object) noexcept : object_(object) {}
  /// Adds a reference. `object` may be null.
  [[nodiscard]] static Ref to(T* object) noexcept {
    if (object != nullptr) object->retain();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : Ref(to(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }

  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] T* take() noexcept { return std::exchange(object_, nullptr); }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace padlock::capi

/// Defines retain and release of a handle.
#define PADLOCK_COUNTED_HANDLE(name)                      \
  void padlock_##name##_retain(padlock_##name* object) {  \
    if (object != nullptr) object->retain();              \
  }                                                       \
  void padlock_##name##_release(padlock_##name* object) { \
    if (object != nullptr) object->release();             \
  }
