#pragma once

#include <vector>

#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/model/schedule.h"
#include "tests/compiler/seeded/mutation.h"

// Seed a mutation into what a pass made, where it is one of that pass's.
namespace padlock::compiler {

void edit_segments(const Kernel& kernel, std::vector<RowCase>& cases, Mutation mutation);
void edit_walks(ir::ExprContext& exprs, Body& body, Mutation mutation);
void edit_grid(Schedule& schedule, Mutation mutation);
/// The part of a tile that has no size in it.
void edit_geometry(ir::ExprContext& exprs, TileGeometry& tile, Mutation mutation);
/// And what a launch, a call and a source say.
void edit_schedule(Schedule& schedule, Mutation mutation);
void edit_reaches(Schedule& schedule, Mutation mutation);

}  // namespace padlock::compiler
