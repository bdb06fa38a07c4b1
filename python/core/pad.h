#pragma once

#include "python/core/failure.h"

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

}  // namespace padlock::python
