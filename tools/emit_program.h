#pragma once

#include <string>

#include "api/program.h"
#include "tools/failure.h"

namespace padlock::tools {

/// As load_program, for emit and prove, which show the inside.
[[nodiscard]] Outcome<api::Program> load_inside_program(const std::string& path);

}  // namespace padlock::tools
