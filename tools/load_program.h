#pragma once

#include <string>

#include "api/program.h"
#include "tools/failure.h"

namespace padlock::tools {

/// Reads and verifies a program file. Failures exit with `file`; they begin with the path and, where there is one,
/// the position.
[[nodiscard]] Outcome<api::Program> load_program(const std::string& path);

}  // namespace padlock::tools
