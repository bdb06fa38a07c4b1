#pragma once

#include <vector>

#include "compiler/kernel/index_maps.h"
#include "compiler/kernel/kernel.h"
#include "ir/program.h"
#include "support/error.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Brings a program into gather form: one kernel for each group of results whose extents are the same expressions. The
/// program must outlive the kernels. `make_maps` makes the index maps; empty: IndexMaps. Errors: resource_exhausted,
/// naming the statement, beyond the limits of kernels (support/limits.h), since there are no intermediate buffers.
[[nodiscard]] Result<std::vector<Kernel>> gather_kernels(const ir::Program& program,
                                                         const MakeIndexMaps& make_maps = {});

/// Returns the facts about a kernel's symbols and output coordinates: the program's, and that each coordinate is below
/// its extent.
[[nodiscard]] ir::Facts coordinate_facts(const Kernel& kernel);

/// Merges adjacent output axes to turn short rows into long ones; every access and condition must stay linear. Axes a
/// and a + 1, of extents A and E, become one axis q = $a * E + $(a+1). Each access must use neither axis, or read `$a +
/// c` and the whole of `$(a+1)` on adjacent axes whose strides agree; the merged coordinate is q + c * E. A condition
/// `$a >= k` becomes `q >= k * E`. Repeated (reflected, wrapped, ...) axes are never merged. Axes stay apart once the
/// steps are used up.
void merge_axes(Kernel& kernel, const StepBudget& steps);

/// Finds and notes a kernel's data that is the same in all columns of a row (Graph::row_data). Precondition: axes are
/// not merged afterwards.
void find_row_data(Kernel& kernel);

}  // namespace padlock::compiler
