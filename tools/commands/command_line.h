#pragma once

#include <string>
#include <vector>

namespace padlock::tools {

/// The command's main: parses `arguments` (without the program's name), runs the subcommand and reports a failure on
/// stderr. Returns the exit status.
int run_command_line(std::vector<std::string> arguments);

}  // namespace padlock::tools
