#pragma once

#include "session/launch/compiled_program.h"
#include "support/error.h"

namespace padlock::testing {

/// Runs a bound program once on arrays of the host's memory, on whatever device it was compiled for, and waits. Errors:
/// as BoundProgram::launch and BoundProgram::synchronize; resource_exhausted, naming the tensor.
///
/// On a GPU each array has a buffer of the device beside it, which begins at the same address modulo 16 as far as the
/// element type allows, so that code which depends on alignment does there as it would here. Outputs are copied there,
/// too: what a launch does not write stays as it was. Elsewhere the program works on the arrays themselves.
[[nodiscard]] Status run_on_host_arrays(const session::BoundProgram& program, const session::LaunchArguments& arrays);

}  // namespace padlock::testing
