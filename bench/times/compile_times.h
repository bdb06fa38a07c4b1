#pragma once

#include <string>
#include <vector>

#include "session/compile/context.h"
#include "support/error.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {

/// From text to a kernel that can be launched, in a process that has compiled before: a rank 1 pad (the baseline) and a
/// rank 4 pad and relu. Errors: as the session's.
[[nodiscard]] Result<Comparison> warm_compile(session::Context& context, const TimingOptions& options);

/// Measures this process: milliseconds from the text of a rank 4 program to one that can be launched, the compiler's
/// own start included. Meant for a process that has compiled nothing. Errors: as the session's.
[[nodiscard]] Result<double> first_compile_ms();
/// The same in processes of their own, one after another: `self` is a program that prints that for "--first-compile".
/// Error: unavailable where it cannot be run.
[[nodiscard]] Result<std::vector<double>> first_compiles_ms(const std::string& self, int count);

/// From text to a list of proofs, each time of a program that was not proved before (its name is new): a rank 1 pad
/// (the baseline), a rank 4 pad and relu, a rank 4 reflection, and 12 axes with 36 symbols. Errors: as the session's.
[[nodiscard]] Result<Comparison> proof_times(session::Context& context, const TimingOptions& options);

/// Whole processes: `padlock version` (the baseline) and `padlock run` of a rank 4 program. `command` is the padlock
/// command. Error: unavailable where it cannot be run or fails.
[[nodiscard]] Result<Comparison> cold_process(const std::string& command, const TimingOptions& options);

}  // namespace padlock::bench
