#include "compiler/schedule/vector_grid.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis, below the variables of a run.
enum VariableOrder { kElements = 920, kPhase, kUsed, kTile, kSlot, kAhead, kShift, kExtent, kFirstGranule };

/// Up to so many vectors one a thread is fastest: two for each thread that an H100 or H200 runs at once (132
/// multiprocessors of 2048). (An H200, 4.5 MB of short misaligned rows: f32 1.17 of a copy with one, 1.03 with two; at
/// 16 MiB both 0.99.)
constexpr int kMostSingleVectors = 2 * 132 * 2048;

}  // namespace

VectorGrid make_vector_grid(ir::ExprContext& exprs, int threads, int vectors, int lanes) {
  VectorGrid grid{.threads = threads,
                  .vectors = vectors,
                  .lanes = lanes,
                  .elements = exprs.variable("elements", kElements),
                  .phase = exprs.variable("phase", kPhase),
                  .used = exprs.variable("used", kUsed),
                  .tile = exprs.variable("tile", kTile),
                  .slot = exprs.variable("slot", kSlot),
                  .ahead = exprs.variable("ahead", kAhead),
                  .first = {},
                  .begin = {},
                  .ahead_is = {},
                  .local = {},
                  .tiles = {},
                  .launched = {}};
  const Expr step = exprs.constant(lanes);
  const Expr one = exprs.constant(1);
  const Expr tile_elements = exprs.mul(exprs.constant(Int128{threads} * lanes), grid.used);
  const Expr tile_first = exprs.sub(exprs.mul(grid.tile, tile_elements), grid.phase);
  const Expr in_tile = exprs.mul(step, grid.slot);
  grid.first = exprs.add(tile_first, in_tile);
  grid.begin = exprs.max(tile_first, exprs.constant(0));
  grid.ahead_is = exprs.sub(grid.begin, tile_first);
  grid.local = exprs.sub(in_tile, grid.ahead);
  grid.tiles = exprs.ceildiv(exprs.add(grid.elements, exprs.constant(lanes - 1)), tile_elements);
  const Expr a_thread = exprs.ceildiv(grid.elements, exprs.constant(Int128{kMostSingleVectors} * lanes));
  grid.launched = exprs.min(exprs.max(a_thread, one), exprs.constant(vectors));
  return grid;
}

Expr at_launch(ir::ExprContext& exprs, const VectorGrid& grid, Expr e, Expr elements, Expr used) {
  return exprs.substitute(e, [&](Expr symbol) {
    return symbol == grid.elements ? elements : symbol == grid.used ? used : symbol;
  });
}

Granules make_granules(ir::ExprContext& exprs, int lanes) {
  Granules made{.shift = exprs.variable("granule_shift", kShift),
                .extent = exprs.variable("extent", kExtent),
                .first = exprs.variable("first_granule", kFirstGranule),
                .offset = {},
                .tests = {}};
  made.offset = exprs.sub(exprs.constant(0), made.shift);
  made.tests = {made.first, exprs.sub(made.extent, exprs.add(made.first, exprs.constant(2 * Int128{lanes})))};
  return made;
}

}  // namespace padlock::compiler
