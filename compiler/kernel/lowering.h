#pragma once

#include <vector>

#include "compiler/kernel/index_maps.h"
#include "compiler/kernel/kernel.h"
#include "ir/program.h"
#include "support/error.h"

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

}  // namespace padlock::compiler
