#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Says what is special in the code of one variant of a kernel, and for which sizes it is.
struct GpuVariant : CodeVariant {
  std::size_t schedule = 0;  // which of the kernel's
  std::string suffix = {};   // of its name
  std::vector<abi::Guard> guards = {};
};

/// Lists the variants of a kernel in its schedules, the one that assumes nothing first, each with all that those before
/// it of its schedule assume: a launch takes the last whose guards hold. The schedules must outlive them.
[[nodiscard]] std::vector<GpuVariant> gpu_variants(std::span<const ProvenKernel> schedules);

}  // namespace padlock::compiler
