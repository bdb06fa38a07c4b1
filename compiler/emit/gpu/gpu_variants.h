#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Describes one variant of a kernel: what is special in its code, and its sizes.
struct GpuVariant : CodeVariant {
  std::size_t schedule = 0;  // index of the kernel's schedule
  std::string suffix = {};   // of the variant's name
  std::vector<abi::Guard> guards = {};
};

/// Lists the variants of a kernel in its schedules; the first assumes nothing. Each variant also assumes what earlier
/// variants of its schedule assume. A launch takes the last variant whose guards hold. The schedules must outlive the
/// variants.
[[nodiscard]] std::vector<GpuVariant> gpu_variants(std::span<const ProvenKernel> schedules);

}  // namespace padlock::compiler
