#pragma once

#include <cstdint>
#include <memory>

#include "capi/launch/context.h"
#include "session/launch/arguments.h"
#include "session/launch/launch_context.h"
#include "support/error.h"

// The border between a context and the compiler. Two sources implement this: compiler.cpp of libpadlock, and
// no_compiler.cpp of libpadlock_runtime.
namespace padlock::capi {

/// Makes the launch context of a new context. A compiler reads more of the options.
[[nodiscard]] std::unique_ptr<session::LaunchContext> make_launching(const padlock_context_options& options,
                                                                     const session::LaunchOptions& launch);
/// Opens the cache that the options name. Errors: invalid_argument for an unknown mode; others of the file.
[[nodiscard]] Status use_cache(padlock_context& context, const padlock_context_options& options);
/// Makes the request of a binding whose tensors have no layout yet: they get the declared one. Error: invalid_argument.
[[nodiscard]] Result<session::SourceRequest> unplaced_request(const ir::Program& program, ir::BindRequest request);
[[nodiscard]] std::int64_t configs_tried(const padlock_context& context);

}  // namespace padlock::capi
