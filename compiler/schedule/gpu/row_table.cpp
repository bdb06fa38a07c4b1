#include "compiler/schedule/gpu/covers.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

constexpr int kWarp = 32;
/// Kernels of wider elements wait for memory, not for instructions: a table costs them 1 to 5 % of their speed.
constexpr int kFewestLanes = 16;
/// Below so many rows among a warp's vectors a table is no gain.
constexpr int kFewestRows = 2;
/// Below so many vectors, 8 MiB, most threads take one at a time, and wait for what few then share.
constexpr std::int64_t kFewestVectors = (8 << 20) / 16;
constexpr int kColumns = 940;  // the variable's order: after those of granules

bool takes_starts_only(const Body& body) {
  const bool loads = std::ranges::all_of(body.loads, [](const BodyLoad& load) {
    return load.kind != LoadKind::general && load.scope < 0 && !has_offset(load);
  });
  return loads && !body.uses_rows && std::ranges::all_of(body.nodes, [](const BodyNode& node) {
           return node.kind == NodeKind::constant || node.kind == NodeKind::scalar || node.kind == NodeKind::load ||
                  node.kind == NodeKind::operation;
         });
}

}  // namespace

std::optional<RowTable> make_row_table(const Schedule& schedule, const VectorGrid& grid) {
  if (grid.vectors < 2 || kWarp % grid.vectors != 0 || grid.lanes < kFewestLanes || schedule.kernel.rank() < 3 ||
      !std::ranges::all_of(schedule.bodies, takes_starts_only))
    return std::nullopt;
  ir::ExprContext& exprs = schedule.exprs();
  RowTable rows{.vectors = kWarp,
                .lanes = grid.lanes,
                .places = kWarp / grid.vectors,
                .fewest = kFewestVectors * grid.lanes,
                .columns = exprs.variable("columns", kColumns),
                .tests = {}};
  const Expr elements = exprs.constant(Int128{kWarp} * rows.lanes);
  const auto times = [&](int count) { return exprs.mul(exprs.constant(count), rows.columns); };
  rows.tests = {{times(rows.places - 1), ir::Comparison::ge, elements},
                {times(kFewestRows), ir::Comparison::le, elements},
                {exprs.mod(rows.columns, exprs.constant(rows.lanes)), ir::Comparison::ge, exprs.constant(1)}};
  return rows;
}

}  // namespace padlock::compiler
