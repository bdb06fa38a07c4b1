#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Index expressions of one place in the code that must be exact: compared, divided, or taken the least of. (What is
/// only added up to an address is arithmetic modulo 2^64, where partial sums may wrap; its value is bounded by the
/// tensor's storage, see kMaxStorageBytes.)
struct ExactIndices {
  std::string place;
  std::vector<ir::Expr> exact;  // each once
};

/// Returns those of one body.
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule, const Body& body);
/// Returns those of a schedule with tiles of one shape, of all, or, null, of none, by place; without row chunks,
/// which are done without where theirs do not fit.
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule, const TransposeTile* tile);
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule);

/// Counts the operations on coordinates that exact indices take, as often as they are emitted: what they have in common
/// is computed anew for each. Stops beyond `most`.
[[nodiscard]] std::uint32_t count_index_operations(const std::vector<ExactIndices>& places, std::size_t most);

}  // namespace padlock::compiler
