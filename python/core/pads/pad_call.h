#pragma once

#include <memory>
#include <optional>
#include <span>

#include "python/core/failure.h"
#include "python/core/pads/pad_program.h"
#include "python/core/tensors/tensor.h"

// Pads as requests, to which all conventions of writing them are converted.
namespace padlock::python {

struct BoundCall;

struct ModeName {
  const char* name;
  PadMode mode;
  PyObject* key = nullptr;
};

/// Returns the mode of that name; nullopt if it is unknown.
[[nodiscard]] std::optional<PadMode> known_mode(nb::handle text, std::span<ModeName> names);
/// Returns the mode of that name. Errors: InvalidArgument, which lists the names.
[[nodiscard]] PadMode mode_of(nb::handle text, std::span<ModeName> names);

/// Appends the integers of a tuple or another sequence. Errors: InvalidArgument, with the name `what`.
void read_amounts(nb::handle given, const char* what, Amounts& amounts);
/// Errors: InvalidArgument for elements that do not move as bits.
void check_elements(const Tensor& x);
/// Errors: InvalidArgument unless there is one amount for each axis.
void check_count(const Amounts& amounts, int axes, const char* what);

/// Returns the call of a request; compiles and binds it if it is new.
[[nodiscard]] std::shared_ptr<BoundCall> call_for(Tensor& x, const PadRequest& request);
/// Runs a request. `out`: see launch.
[[nodiscard]] nb::object run_pad(Tensor& x, const PadRequest& request, nb::handle out, TorchState& torch);

}  // namespace padlock::python
