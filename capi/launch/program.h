#pragma once

#include <string>

#include "capi/launch/context.h"
#include "capi/object.h"
#include "session/launch/compiled_program.h"

struct padlock_program : padlock::capi::Counted<padlock_program> {
  padlock_program(padlock_context& owner, padlock::session::Program parsed, std::string source,
                  padlock::session::CompiledProgram unbuilt)
      : context(padlock::capi::Ref<padlock_context>::to(&owner)),
        program(std::move(parsed)),
        text(std::move(source)),
        uncompiled(std::move(unbuilt)) {}

  const padlock::capi::Ref<padlock_context> context;
  const padlock::session::Program program;
  const std::string text;
  const padlock::session::CompiledProgram uncompiled;  // for the reference device: it has sizes without compiling
};

namespace padlock::capi {

/// Parses a text; the program has one reference. Errors: invalid_argument with line and column; resource_exhausted for
/// a long text.
[[nodiscard]] Result<padlock_program*> parse(padlock_context& context, std::string text, std::string file);

}  // namespace padlock::capi
