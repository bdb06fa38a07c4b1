#pragma once

#include "capi/launch/kernel.h"
#include "capi/launch/program.h"
#include "session/compile/context.h"

namespace padlock::capi {

/// The context as one that compiles, which every context of libpadlock is.
[[nodiscard]] session::Context& compiler_of(const padlock_context& context);

/// Errors: invalid_argument for a device that there is not.
[[nodiscard]] Result<session::CompileOptions> compile_options(const padlock_compile_options& options);

/// The kernel, with one more reference: looked up, without allocating, or compiled. Options as read_options left them.
[[nodiscard]] Result<padlock_kernel*> kernel_of(padlock_program& program, const padlock_compile_options& options);

}  // namespace padlock::capi
