#pragma once

#include <string_view>

namespace padlock::differential {

/// From now on a fatal signal (a guard page that was touched, an abort inside LLVM, a division) prints the text of
/// the last call to name_current_case before the process dies of it.
void install_crash_report();
/// What runs now; text beyond 16 KiB is cut.
void name_current_case(std::string_view text);

}  // namespace padlock::differential
