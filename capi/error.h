#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "capi/object.h"
#include "support/error.h"
#include "support/fork.h"

/// One block: all texts and values lie behind it. Further errors of the same text are a list.
struct padlock_error : padlock::capi::Counted<padlock_error> {
  constexpr padlock_error() = default;

  padlock_status status = PADLOCK_UNKNOWN;
  padlock_blame blame = PADLOCK_BLAME_LIBRARY;
  std::int32_t line = 0, column = 0, axis = -1;
  const char* message = "";
  const char* text = "";
  const char* expression = "";
  std::size_t value_count = 0;
  const padlock_named_value* values = nullptr;
  padlock::capi::Ref<padlock_error> next = {};
};

// The border: what goes wrong inside becomes a status and an error there.
namespace padlock::capi {

[[nodiscard]] padlock_status status_of(const Error& error);

/// The error as a status and, where `out` is given, as an object.
padlock_status report(const padlock_allocator& allocator, const Error& error, padlock_error** out) noexcept;
/// Without any memory.
padlock_status report_out_of_memory(padlock_error** out) noexcept;
/// An exception that is not std::bad_alloc: ours, since no caller's may come here.
padlock_status report_exception(const padlock_allocator& allocator, const char* what, padlock_error** out) noexcept;

/// Error: invalid_argument, "expected WHAT, found NULL".
[[nodiscard]] Status missing(std::string_view what);
/// Error: `missing`, where the pointer is null.
template <class T>
[[nodiscard]] Status require(const T* pointer, std::string_view what) {
  return pointer != nullptr ? Status() : missing(what);
}
/// Error: out_of_range.
[[nodiscard]] Status check_index(std::size_t index, std::size_t count);
/// The allocator of the object, or the standard one where there is none.
template <class T>
[[nodiscard]] padlock_allocator allocator_of(const T* object) {
  return object != nullptr ? object->allocator() : standard_allocator();
}

/// Runs a function that returns Status; an exception becomes an error, too. A fork does not wait for it: it serves
/// launches, which take as long as a caller's own work.
template <class Body>
padlock_status guarded_launch(const padlock_allocator& allocator, padlock_error** out, Body&& body) noexcept {
  if (out != nullptr) *out = nullptr;
  try {
    const Status status = body();
    return status ? PADLOCK_OK : report(allocator, status.error(), out);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory(out);
  } catch (const std::exception& exception) {
    return report_exception(allocator, exception.what(), out);
  } catch (...) {
    return report_exception(allocator, "an unknown exception", out);
  }
}

/// The same of a function that a fork waits for, as it may take locks or use LLVM or SQLite. Error also: as
/// ForkGuard::status.
template <class Body>
padlock_status guarded(const padlock_allocator& allocator, padlock_error** out, Body&& body) noexcept {
  const ForkGuard inside;
  return guarded_launch(allocator, out, [&]() -> Status {
    PADLOCK_CHECK(inside.status());
    return body();
  });
}

/// The same of a function that returns a Result<T*> with one reference, which goes to `*handle`.
template <class T, class Body>
padlock_status guarded_handle(const padlock_allocator& allocator, T** handle, padlock_error** out,
                              Body&& body) noexcept {
  if (handle != nullptr) *handle = nullptr;
  return guarded(allocator, out, [&]() -> Status {
    if (handle == nullptr) return invalid_argument("expected a place for the handle, found NULL");
    PADLOCK_TRY(*handle, body());
    return {};
  });
}

/// The same two for a function of `object`, whose allocator serves. Error: as `require`, where there is none.
template <class T, class Body>
padlock_status guarded(const T* object, std::string_view what, padlock_error** out, Body&& body) noexcept {
  return guarded(allocator_of(object), out, [&]() -> Status {
    PADLOCK_CHECK(require(object, what));
    return body();
  });
}
template <class Object, class T, class Body>
padlock_status guarded_handle(const Object* object, std::string_view what, T** handle, padlock_error** out,
                              Body&& body) noexcept {
  return guarded_handle(allocator_of(object), handle, out, [&]() -> Result<T*> {
    PADLOCK_CHECK(require(object, what));
    return body();
  });
}

}  // namespace padlock::capi
