#pragma once

#include <string_view>

namespace padlock::differential {

/// From now on a fatal signal (a touched guard page, an abort inside LLVM, a division) first prints the text of the
/// last call of name_current_case, then ends the process.
void install_crash_report();
/// Names the current case; text beyond 16 KiB is cut.
void name_current_case(std::string_view text);

}  // namespace padlock::differential
