#pragma once

#include <vector>

#include "compiler/prover/core/loop_proof.h"
#include "compiler/schedule/model/schedule.h"
#include "solver/feasibility.h"

// Regions over a task in which the lanes of a segment may lie.
namespace padlock::compiler {

/// a < b and a >= b, as expressions that are >= 0.
[[nodiscard]] ir::Expr less(ir::ExprContext& exprs, ir::Expr a, ir::Expr b);
[[nodiscard]] ir::Expr at_least(ir::ExprContext& exprs, ir::Expr a, ir::Expr b);

/// Adds the conditions of `from` to `to`.
void join(solver::Region& to, const solver::Region& from);

/// Returns `rows` with the columns of a task in which the segment's run is not empty.
[[nodiscard]] solver::Region task_of(const Schedule& schedule, const SegmentCall& call, const solver::Region& rows);

/// One way in which lanes are where a column must be.
struct Lanes {
  solver::Region region;
  ir::Expr first, last;  ///< columns, inclusive
};

/// Returns the whole run where `inside` says that nothing leaves it, else the columns that each loop accesses.
[[nodiscard]] std::vector<Lanes> accessed_columns(const Schedule& schedule, const SegmentCall& call,
                                                  const solver::Region& rows, bool inside);

/// Returns the elements of the output.
[[nodiscard]] solver::Region output_elements(const Kernel& kernel);

}  // namespace padlock::compiler
