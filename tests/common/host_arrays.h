#pragma once

#include "session/launch/compiled_program.h"
#include "support/error.h"

namespace padlock::testing {

/// Runs a bound program once on arrays in the host's memory, on the device for which it was compiled, and waits.
/// Errors: those of BoundProgram::launch and BoundProgram::synchronize; resource_exhausted, naming the tensor.
///
/// On a GPU each array has a device buffer whose address is the same modulo 16, as far as the element type allows, so
/// that code which depends on alignment runs alike. Outputs are copied there, too: elements that a launch does not
/// write stay unchanged. Elsewhere the program works on the arrays themselves.
[[nodiscard]] Status run_on_host_arrays(const session::BoundProgram& program, const session::LaunchArguments& arrays);

}  // namespace padlock::testing
