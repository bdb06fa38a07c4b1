#pragma once

#include <cstddef>

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// The functions that take short rows of one case.
struct RowChunksCode {
  llvm::Function* planner = nullptr;  ///< i1 planner(launch, plan)
  /// i64 taker(launch, plan, offset of the first row in the output, rows, rows to the end of the task, base of each
  /// load): takes the first of some rows that are of the same case, all their columns, and returns how many.
  llvm::Function* taker = nullptr;
  std::size_t plan_bytes = 0;
};

/// Emits them for a case that has row chunks.
[[nodiscard]] RowChunksCode emit_row_chunks(KernelContext& context, std::size_t row_case);

}  // namespace padlock::compiler
