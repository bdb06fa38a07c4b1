#include "compiler/schedule/model/vector_grid.h"

#include <utility>

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis, below the variables of a run.
enum VariableOrder {
  kElements = 920,
  kPhase,
  kUsed,
  kBlock,
  kSlot,
  kShift,
  kLeast,
  kEnd,
  kFirstGranule,
  kRow,
  kFirstRow
};

/// Most vectors, 24 MiB, of a launch with one vector a thread. Such code is fastest there, since it has half the
/// registers: of f16 and i8 a multiprocessor runs 2048 threads at once, not 1536 (1.07 times as fast at 4 MiB, 0.97 at
/// 256 MiB on an H200).
constexpr std::int64_t kMostSingleVectors = (24 << 20) / 16;

Granules make_granules(ir::ExprContext& exprs, int lanes) {
  Granules made{.shift = exprs.variable("granule_shift", kShift),
                .least = exprs.variable("storage_begin", kLeast),
                .end = exprs.variable("storage_end", kEnd),
                .first = exprs.variable("first_granule", kFirstGranule),
                .offset = {},
                .tests = {}};
  made.offset = exprs.sub(exprs.constant(0), made.shift);
  const Expr both = exprs.constant(2 * Int128{lanes});
  made.tests = {{made.first, ir::Comparison::ge, made.least},
                {exprs.add(made.first, both), ir::Comparison::le, made.end}};
  return made;
}

}  // namespace

VectorGrid make_vector_grid(ir::ExprContext& exprs, int threads, int vectors, int lanes, Expr beyond_short) {
  VectorGrid grid{.threads = threads,
                  .vectors = vectors,
                  .lanes = lanes,
                  .elements = exprs.variable("elements", kElements),
                  .phase = exprs.variable("phase", kPhase),
                  .used = exprs.variable("used", kUsed),
                  .block = exprs.variable("block", kBlock),
                  .slot = exprs.variable("slot", kSlot),
                  .first = {},
                  .blocks = {},
                  .beyond_single = {},
                  .launched = {}};
  const Expr step = exprs.constant(lanes);
  const Expr one = exprs.constant(1);
  const Expr block_elements = exprs.mul(exprs.constant(Int128{threads} * lanes), grid.used);
  const Expr block_first = exprs.sub(exprs.mul(grid.block, block_elements), grid.phase);
  const Expr in_block = exprs.mul(step, grid.slot);
  grid.first = exprs.add(block_first, in_block);
  grid.blocks = exprs.ceildiv(exprs.add(grid.elements, exprs.constant(lanes - 1)), block_elements);
  grid.beyond_single = exprs.sub(grid.elements, exprs.constant(Int128{kMostSingleVectors} * lanes));
  if (beyond_short.valid()) grid.beyond_single = exprs.min(grid.beyond_single, beyond_short);
  const Expr beyond = exprs.max(grid.beyond_single, exprs.constant(0));
  const Expr others = exprs.mul(exprs.constant(vectors - 1), exprs.min(beyond, one));
  grid.launched = exprs.add(one, others);
  grid.granules = make_granules(exprs, lanes);
  return grid;
}

RowTable make_row_table(ir::ExprContext& exprs, const VectorGrid& grid, Expr columns, std::vector<Expr> values) {
  RowTable table{.values = std::move(values),
                 .row = exprs.variable("row", kRow),
                 .first_row = exprs.variable("first_row", kFirstRow),
                 .first = {},
                 .last = {},
                 .place = {},
                 .capacity = {},
                 .bytes = {}};
  const Expr one = exprs.constant(1);
  const Expr block_elements = exprs.mul(exprs.constant(Int128{grid.threads} * grid.lanes), grid.used);
  const Expr first = exprs.sub(exprs.mul(grid.block, block_elements), grid.phase);
  table.first = exprs.max(first, exprs.constant(0));
  table.last = exprs.sub(exprs.min(exprs.add(first, block_elements), grid.elements), one);
  const Expr row_bytes = exprs.constant(table.row_bytes());
  table.place = exprs.mul(row_bytes, exprs.sub(table.row, table.first_row));
  table.capacity = exprs.add(exprs.ceildiv(exprs.sub(block_elements, one), exprs.max(columns, one)), one);
  table.bytes = exprs.mul(row_bytes, table.capacity);
  return table;
}

Expr at_launch(ir::ExprContext& exprs, const VectorGrid& grid, Expr e, Expr elements, Expr used) {
  return exprs.substitute(e, [&](Expr symbol) {
    return symbol == grid.elements ? elements : symbol == grid.used ? used : symbol;
  });
}

}  // namespace padlock::compiler
