#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "abi/kernel_abi.h"
#include "compiler/prover/core/proven_kernel.h"

namespace padlock::compiler {

/// Names one of the modules that a program's kernels for a GPU are in: no two variants of a kernel share one, so that
/// LLVM can be at all of them at once.
struct GpuModule {
  bool is_large = false;  ///< whether it is for tensors or axes that are too large for launches of usual sizes
  int number = 0;         ///< from 0, of those alike

  auto operator<=>(const GpuModule&) const = default;
};

/// Says what is special in the code of one variant of a kernel, and for which sizes it is.
struct GpuVariant {
  std::size_t schedule = 0;  // which of the kernel's
  unsigned index_bits = 64, offset_bits = 64;
  const TransposeTile* tile = nullptr;  // of the schedule, where it has tiles
  int vectors = 0;                      // of a thread, where it has a grid of them
  bool uses_row_table = false;          // whether its warps have tables of rows
  bool in_parts = false;                // whether a launch may be of some rows (abi::LaunchParts)
  std::string suffix = {};              // of its name
  std::vector<abi::Guard> guards = {};
  GpuModule module;
};

/// Lists the variants of a kernel in its schedules, the one that assumes nothing first, each with all that those before
/// it assume, but for short rows, few vectors and the last, of a schedule that serves some sizes: a launch takes the
/// last whose guards hold. The schedules must outlive them.
[[nodiscard]] std::vector<GpuVariant> gpu_variants(std::span<const ProvenKernel> schedules);

}  // namespace padlock::compiler
