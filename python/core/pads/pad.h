#pragma once

#include <span>
#include <string_view>

#include "python/core/failure.h"
#include "python/core/tensors/element_type.h"

// Eager pads: one tensor, amounts as given, and programs that are made once for each kind.
namespace padlock::python {

/// padlock.pad, with the language's conventions.
[[nodiscard]] nb::object pad(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value,
                             nb::handle interior, nb::handle out);
/// As pad, on memory: inside torch's dispatcher.
[[nodiscard]] nb::object pad_memory(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value,
                                    nb::handle interior, nb::handle out);
/// padlock.torch.pad: amounts in pairs, the last axis first.
[[nodiscard]] nb::object pad_like_torch(nb::handle x, nb::handle amounts, nb::handle mode, nb::handle value,
                                        nb::handle out);

/// numpy.pad for arrays and for the common forms of widths, without further arguments. Returns None for other calls,
/// which padlock/numpy.py handles.
[[nodiscard]] nb::object pad_like_numpy(nb::handle x, nb::handle width, nb::handle mode, nb::handle out);

/// Pads dense memory into dense memory; `extents` are the result's. On a GPU the work is queued on `stream`. Errors
/// also: InvalidArgument for different extents.
void pad_to(const DLTensor& x, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
            std::string_view mode, Bits fill, void* to, std::span<const std::int64_t> extents, void* stream);

}  // namespace padlock::python
