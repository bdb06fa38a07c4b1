#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Returns the assumptions under which all indices of a GPU's schedule have 32 bits: sizes and extents are at most
/// 2^30, or somewhat less if they are multiplied. Gives a grid's sources their reaches. Empty on the host.
[[nodiscard]] Index32Variant choose_index32_variant(Schedule& schedule);

/// Returns whether all indices of a GPU's schedule fit 32 bits, given that its sizes lie between -bound and bound.
[[nodiscard]] bool indices_fit(const Schedule& schedule, const std::vector<ir::Expr>& sizes, std::int64_t bound);

/// Returns the reach of a load, for vectors of this many lanes.
[[nodiscard]] TensorReach reach_of(const Kernel& kernel, const LoadSource& source, int lanes);

/// Gives each load of a schedule with a grid its reach, and returns the reaches, each once. A load reaches all of a
/// tensor axis whose coordinate does not move with rows.
[[nodiscard]] std::vector<TensorReach> set_reaches(Schedule& schedule);

}  // namespace padlock::compiler
