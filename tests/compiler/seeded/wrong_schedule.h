#pragma once

#include <vector>

#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/model/schedule.h"
#include "tests/compiler/seeded/mutation.h"

// Seed a mutation into a pass's output, if it is a bug of that pass.
namespace padlock::compiler {

void edit_segments(const Kernel& kernel, std::vector<RowCase>& cases, Mutation mutation);
void edit_walks(ir::ExprContext& exprs, Body& body, Mutation mutation);
void edit_grid(Schedule& schedule, Mutation mutation);
/// Edits the parts of a tile that do not depend on sizes.
void edit_geometry(ir::ExprContext& exprs, TileGeometry& tile, Mutation mutation);
/// Edits a launch, a call or a source.
void edit_schedule(Schedule& schedule, Mutation mutation);
void edit_reaches(Schedule& schedule, Mutation mutation);

}  // namespace padlock::compiler
