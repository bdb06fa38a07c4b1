#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "capi/object.h"
#include "support/error.h"
#include "support/fork.h"

/// One block of memory, with all texts and values behind the struct. Further errors of the same text form a list.
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

// The border between C++ and C: errors and exceptions inside become a status and an error object.
namespace padlock::capi {

[[nodiscard]] padlock_status status_of(const Error& error);

/// Returns the error's status and, unless `out` is null, makes the object.
padlock_status report(const padlock_allocator& allocator, const Error& error, padlock_error** out) noexcept;
/// Allocates nothing.
padlock_status report_out_of_memory(padlock_error** out) noexcept;
/// Reports an exception that is not std::bad_alloc. It is the library's own: a caller's cannot come here.
padlock_status report_exception(const padlock_allocator& allocator, const char* what, padlock_error** out) noexcept;

/// Returns invalid_argument, "expected WHAT, found NULL".
[[nodiscard]] Status missing(std::string_view what);
/// Error: that of `missing`, for a null pointer.
template <class T>
[[nodiscard]] Status require(const T* pointer, std::string_view what) {
  return pointer != nullptr ? Status() : missing(what);
}
/// Error: out_of_range for an index beyond the last.
[[nodiscard]] Status check_index(std::size_t index, std::size_t count);
/// Returns the object's allocator, or the standard one for null.
template <class T>
[[nodiscard]] padlock_allocator allocator_of(const T* object) {
  return object != nullptr ? object->allocator() : standard_allocator();
}

/// Runs a function that returns Status; an exception becomes an error, too. A fork does not wait for it: launches run
/// in it, and they take as long as the caller's work.
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

/// As `guarded`, but a fork waits for it, since it may take locks or use LLVM or SQLite. Errors also:
/// ForkGuard::status.
template <class Body>
padlock_status guarded(const padlock_allocator& allocator, padlock_error** out, Body&& body) noexcept {
  const ForkGuard inside;
  return guarded_launch(allocator, out, [&]() -> Status {
    PADLOCK_CHECK(inside.status());
    return body();
  });
}

/// As that, for a function that returns a Result<T*> with one reference, which `*handle` receives.
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

/// As the two above, for a function of `object`, with its allocator. Error also: that of `require`, for null.
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
