#pragma once

#include <string>
#include <vector>

#include "bench/report.h"
#include "support/error.h"

namespace padlock::bench {

/// Of this process: milliseconds from the text of a rank 4 program to one that can be launched, the compiler's own
/// start included. Meant for a process that has compiled nothing. Errors: as the API's.
[[nodiscard]] Result<double> first_compile_ms();

/// The same in processes of their own, one after another: `self` is this program, which prints that for
/// "--first-compile". Error: unavailable where it cannot be run.
[[nodiscard]] Result<std::vector<double>> first_compiles_ms(const std::string& self, int count);

}  // namespace padlock::bench
