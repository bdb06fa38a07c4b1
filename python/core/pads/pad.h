#pragma once

#include <span>
#include <string_view>

#include "python/core/failure.h"
#include "python/core/tensors/element_type.h"

// Eager pads: one tensor, amounts as they come, and programs that are made once for each kind.
namespace padlock::python {

/// padlock.pad: the language's conventions.
[[nodiscard]] nb::object pad(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value,
                             nb::handle interior, nb::handle out);
/// The same of memory: within torch's dispatcher.
[[nodiscard]] nb::object pad_memory(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value,
                                    nb::handle interior, nb::handle out);
/// padlock.torch.pad: amounts in pairs, the last axis first.
[[nodiscard]] nb::object pad_like_torch(nb::handle x, nb::handle amounts, nb::handle mode, nb::handle value,
                                        nb::handle out);

/// numpy.pad, where it takes arrays as they are, by widths as they are mostly written, without further arguments. None
/// where it takes more: padlock/numpy.py knows.
[[nodiscard]] nb::object pad_like_numpy(nb::handle x, nb::handle width, nb::handle mode, nb::handle out);

/// Pads memory into memory, dense both; `extents` are the result's. On a GPU the work is queued on `stream`. Errors
/// also: InvalidArgument where they differ.
void pad_to(const DLTensor& x, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
            std::string_view mode, Bits fill, void* to, std::span<const std::int64_t> extents, void* stream);

}  // namespace padlock::python
