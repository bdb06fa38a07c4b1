#pragma once

#include <vector>

#include "ir/expr/expr.h"
#include "solver/feasibility.h"

namespace padlock::solver {

/// Returns ordinary sizes that satisfy the assumptions, by symbol (0 for coordinates), as first guesses in a search for
/// a point. May be empty. `determined`: symbols that the assumptions make equal to others. Deterministic, so that
/// verdicts are.
[[nodiscard]] std::vector<Values64> ordinary_sizes(const ir::ExprContext& exprs, const Region& assumptions,
                                                   const Determined& determined);

}  // namespace padlock::solver
