#pragma once

#include <optional>
#include <string>

#include "ir/binding/binding.h"
#include "session/compile/context.h"
#include "session/launch/program.h"
#include "support/error.h"

namespace padlock::session {

/// Compiles the program for the options' target and describes its requirements and the result, as one documented object
/// ("schema": 1, docs/cli.md) with a newline at its end. Sizes are expressions and, with `request`, numbers too.
/// Expressions are cut at 200 characters. Errors: as Context::compile, and with a request as ir::Binding::bind.
[[nodiscard]] Result<std::string> explain(Context& context, const Program& program, const CompileOptions& options,
                                          const std::optional<ir::BindRequest>& request);

}  // namespace padlock::session
