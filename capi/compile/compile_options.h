#pragma once

#include "capi/launch/kernel.h"
#include "capi/launch/program.h"
#include "session/compile/context.h"

namespace padlock::capi {

/// Returns the context as one that compiles. Every context of libpadlock is one.
[[nodiscard]] session::Context& compiler_of(const padlock_context& context);

/// Errors: invalid_argument for an unknown device.
[[nodiscard]] Result<session::CompileOptions> compile_options(const padlock_compile_options& options);

/// Finds the kernel without allocating, or compiles it, and adds a reference. `options` come from read_options.
[[nodiscard]] Result<padlock_kernel*> kernel_of(padlock_program& program, const padlock_compile_options& options);

}  // namespace padlock::capi
