#pragma once

#include <memory>
#include <optional>
#include <span>

#include "python/core/failure.h"
#include "python/core/pads/pad_program.h"
#include "python/core/tensors/tensor.h"

// Pads as requests: what all conventions of writing them come to.
namespace padlock::python {

struct BoundCall;

struct ModeName {
  const char* name;
  PadMode mode;
  PyObject* key = nullptr;
};

/// The mode of that name, or nothing.
[[nodiscard]] std::optional<PadMode> known_mode(nb::handle text, std::span<ModeName> names);
/// The mode of that name. Errors: InvalidArgument, which lists the names.
[[nodiscard]] PadMode mode_of(nb::handle text, std::span<ModeName> names);

/// Adds the integers of a tuple or any other sequence. Errors: InvalidArgument, by the name `what`.
void read_amounts(nb::handle given, const char* what, Amounts& amounts);
/// Errors: InvalidArgument for elements that do not move as bits.
void check_elements(const Tensor& x);
/// Errors: InvalidArgument where there is not one amount an axis.
void check_count(const Amounts& amounts, int axes, const char* what);

/// The call of a request, compiled and bound where there was none like it.
[[nodiscard]] std::shared_ptr<BoundCall> call_for(Tensor& x, const PadRequest& request);
/// Runs it. `out` as launch has it.
[[nodiscard]] nb::object run_pad(Tensor& x, const PadRequest& request, nb::handle out, TorchState& torch);

}  // namespace padlock::python
