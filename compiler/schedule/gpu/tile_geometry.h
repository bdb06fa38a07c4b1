#pragma once

#include <vector>

#include "compiler/schedule/model/tiles.h"

namespace padlock::compiler {

/// Chooses how many words a row has, and who makes them. `widest`: bytes of the widest element that a kernel makes.
[[nodiscard]] TileShape tile_shape(TileSize size, int widest, int threads, bool has_one_result);

/// Lists what that returns, for all sizes, all types and the threads of all configs. The tests go through all positions
/// of these; tiles of another shape are refuted by the prover.
[[nodiscard]] std::vector<TileShape> tile_shapes();

[[nodiscard]] TileGeometry tile_geometry(ir::ExprContext& exprs, const TileShape& shape);

}  // namespace padlock::compiler
