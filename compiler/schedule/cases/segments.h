#pragma once

#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/model/segments.h"

namespace padlock::compiler {

struct SegmentOptions {
  bool split = true;  ///< false: one segment, with its predicates
};

/// Above these a kernel keeps predicated code. All segments of all cases together hold at most about
/// kMaxSpecialisedNodes nodes, so that a large kernel is not multiplied.
inline constexpr std::size_t kMaxSegments = 8;
inline constexpr std::size_t kMaxRowCases = 8;
inline constexpr std::size_t kMaxSpecialisedNodes = 4096;
/// Steps of proof for one kernel, about 1 us each; an ordinary kernel takes some hundreds.
inline constexpr std::int64_t kProofBudget = 100'000;

/// Cases of a row, the first is the root. Adds specialised nodes to the kernel's graph.
[[nodiscard]] std::vector<RowCase> split_rows(Kernel& kernel, const SegmentOptions& options);

}  // namespace padlock::compiler
