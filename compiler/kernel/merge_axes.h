#pragma once

#include "compiler/kernel/kernel.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Merges adjacent output axes where every access and every condition stays linear, which makes long rows of short
/// ones. Axes a and a + 1, of extents A and E, become one axis q = $a * E + $(a+1) where every access either uses
/// neither, or reads `$a + c` and the whole of `$(a+1)` on adjacent axes whose strides agree; then the coordinate is
/// q + c * E. A condition on $a becomes one on q, since `$a >= k` is `q >= k * E`. Never across a repeated (reflected,
/// wrapped, ...) axis. Axes stay apart once the steps are used up.
void merge_axes(Kernel& kernel, const StepBudget& steps);

}  // namespace padlock::compiler
