#pragma once

#include <cstdint>
#include <memory>

#include "capi/launch/context.h"
#include "session/launch/arguments.h"
#include "session/launch/launch_context.h"
#include "support/error.h"

// Separates a context from the compiler. Two sources implement this: compiler.cpp of libpadlock, and no_compiler.cpp of
// libpadlock_runtime.
namespace padlock::capi {

/// Makes the launch context of a new context from `options`; a compiler reads more of them.
[[nodiscard]] std::unique_ptr<session::LaunchContext> make_launching(const padlock_context_options& options,
                                                                     const session::LaunchOptions& launch);
/// Opens the cache that the options name. Errors: invalid_argument for an unknown mode; else as the file's.
[[nodiscard]] Status use_cache(padlock_context& context, const padlock_context_options& options);
/// A binding's sizes where its tensors are still to be laid out as the program declares that. Error: invalid_argument.
[[nodiscard]] Result<session::SourceRequest> unplaced_request(const ir::Program& program, ir::BindRequest request);
[[nodiscard]] std::int64_t configs_tried(const padlock_context& context);

}  // namespace padlock::capi
