#pragma once

#include <string>

#include "tools/failure.h"

namespace padlock::tools {

/// Reads and verifies a program file. Failures exit with `file`; they begin with the path and, where there is one,
/// the position.
[[nodiscard]] Outcome<lib::Program> load_program(const lib::Context& context, const std::string& path);

}  // namespace padlock::tools
