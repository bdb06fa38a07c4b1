#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Names one of the modules that a program's kernels for a GPU are in: no two variants of a kernel share one, so that
/// LLVM can be at all of them at once.
struct GpuModule {
  bool is_large = false;  ///< whether it is for tensors or axes that are too large for launches of usual sizes
  int number = 0;         ///< from 0, of those alike

  auto operator<=>(const GpuModule&) const = default;
};

/// Says what is special in the code of one variant of a kernel, and for which sizes it is.
struct GpuVariant : CodeVariant {
  std::size_t schedule = 0;  // which of the kernel's
  std::string suffix = {};   // of its name
  std::vector<abi::Guard> guards = {};
  GpuModule module;
};

/// Lists the variants of a kernel in its schedules, the one that assumes nothing first, each with all that those before
/// it of its schedule assume: a launch takes the last whose guards hold. The schedules must outlive them.
[[nodiscard]] std::vector<GpuVariant> gpu_variants(std::span<const ProvenKernel> schedules);

}  // namespace padlock::compiler
