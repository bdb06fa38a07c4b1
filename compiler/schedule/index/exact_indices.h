#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Index expressions of one place in the code that must be exact: they are compared, divided or minimised. (Terms that
/// are only added up to an address wrap modulo 2^64; the address itself is bounded by the tensor's storage, see
/// kMaxStorageBytes.)
struct ExactIndices {
  std::string place;
  std::vector<ir::Expr> exact;  // each once
};

/// Returns the exact indices of one body.
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule, const Body& body);
/// Returns a schedule's exact indices by place, with tiles of one shape, or of none if `tile` is null. Row chunks are
/// left out: if their indices do not fit, they are not used.
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule, const TransposeTile* tile);
[[nodiscard]] std::vector<ExactIndices> exact_indices(const Schedule& schedule);

/// Counts the operations on coordinates in exact indices, as often as they are emitted: each index computes shared
/// parts anew. Stops beyond `most`.
[[nodiscard]] std::uint32_t count_index_operations(const std::vector<ExactIndices>& places, std::size_t most);

}  // namespace padlock::compiler
