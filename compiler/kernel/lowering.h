#pragma once

#include <vector>

#include "compiler/kernel/index_maps.h"
#include "compiler/kernel/kernel.h"
#include "ir/program.h"
#include "support/error.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Brings a program into gather form, one kernel for each group of results whose extents are the same expressions. The
/// program must outlive the kernels. Errors: resource_exhausted, naming the statement, beyond the limits of kernels
/// (support/limits.h): there are no intermediate buffers.
/// `make_maps` makes the maps that coordinates are taken from; empty: IndexMaps themselves.
[[nodiscard]] Result<std::vector<Kernel>> gather_kernels(const ir::Program& program,
                                                         const MakeIndexMaps& make_maps = {});

/// Returns the facts about a kernel's symbols and output coordinates: the program's, and that each coordinate is below
/// its extent.
[[nodiscard]] ir::Facts coordinate_facts(const Kernel& kernel);

/// Merges adjacent output axes where every access and every condition stays linear, which makes long rows of short
/// ones. Axes a and a + 1, of extents A and E, become one axis q = $a * E + $(a+1) where every access either uses
/// neither, or reads `$a + c` and the whole of `$(a+1)` on adjacent axes whose strides agree; then the coordinate is
/// q + c * E. A condition on $a becomes one on q, since `$a >= k` is `q >= k * E`. Never across a repeated (reflected,
/// wrapped, ...) axis. Axes stay apart once the steps are used up.
void merge_axes(Kernel& kernel, const StepBudget& steps);

/// Finds the data of a kernel that is the same in all columns of a row, and notes it (Graph::row_data). Axes are not
/// merged afterwards.
void find_row_data(Kernel& kernel);

}  // namespace padlock::compiler
