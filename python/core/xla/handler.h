#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include "python/core/failure.h"
#include "python/core/tensors/dlpack.h"
#include "python/core/xla/frame.h"

// Helpers that the handlers of XLA's custom calls share.
namespace padlock::python::xla {

/// Attributes by their names. Errors: Internal for one that the call lacks.
[[nodiscard]] std::span<const std::int64_t> integers(const Attributes& all, std::string_view name);
[[nodiscard]] std::string_view text(const Attributes& all, std::string_view name);

/// Bits of an element of XLA's type. Errors: InvalidArgument for elements that are no whole bytes.
[[nodiscard]] std::uint8_t bits_of_type(int type);

/// The device of a call's memory, and the stream on which its work is queued.
struct Place {
  DLDevice device{kDLCPU, 0};
  void* stream = nullptr;
};

[[nodiscard]] Place place_of(const Frame& frame, bool on_gpu);

/// A dense tensor of this type in a buffer of XLA's, which outlives it.
[[nodiscard]] DLTensor tensor_of(const Buffer& buffer, DLDataType type, const Place& place);

/// Answers XLA's question for the version of its interface. Returns false for a frame that is a call.
[[nodiscard]] bool tell_version(Frame& frame);
[[nodiscard]] Error* error_of(const Frame& frame, const char* message);

using Run = void (*)(const Frame&, const Place&);

/// A handler that runs a call. XLA's threads call it, without the GIL.
template <Run run, bool on_gpu>
Error* handle(Frame* frame) {
  if (tell_version(*frame)) return nullptr;
  const nb::gil_scoped_acquire acquired;
  try {
    run(*frame, place_of(*frame, on_gpu));
    return nullptr;
  } catch (const std::exception& error) {
    return error_of(*frame, error.what());
  }
}

/// The handler as a capsule for jax.ffi.
template <Run run>
[[nodiscard]] nb::object handler_of(bool on_gpu) {
  auto* const handler = on_gpu ? &handle<run, true> : &handle<run, false>;
  return owned(PyCapsule_New(reinterpret_cast<void*>(handler), nullptr, nullptr));
}

}  // namespace padlock::python::xla
