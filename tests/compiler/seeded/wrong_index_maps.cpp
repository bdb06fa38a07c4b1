#include "tests/compiler/seeded/wrong_index_maps.h"

#include <algorithm>

namespace padlock::compiler {

using enum Mutation;
using ir::Expr;

PadMap WrongIndexMaps::pad(const ir::PadAttributes& pad, const ir::Value& operand,
                           const std::vector<Expr>& coordinates) {
  ir::PadAttributes wrong = pad;
  if (is(pad_low_added))
    for (Expr& low : wrong.low) low = exprs_.neg(low);
  PadMap map = IndexMaps::pad(wrong, operand, coordinates);
  if (is(pad_load_added) && pad.mode == ir::PadMode::constant)
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
      if (pad.interior[axis] == 0) map.coordinates[axis] = exprs_.add(coordinates[axis], pad.low[axis]);
  return map;
}

IndexMaps::Inside WrongIndexMaps::inside(Expr i, Expr o, Expr n, Expr period) {
  const Expr one = exprs_.constant(1);
  Inside made = IndexMaps::inside(i, o, n, period);
  if (is(pad_lower_bound_late)) made.above = exprs_.sub(made.above, one);
  if (is(pad_upper_bound_early)) made.below = exprs_.sub(made.below, one);
  if (is(pad_guard_lower_weak)) made.above = exprs_.add(made.above, one);
  if (is(pad_guard_upper_weak)) made.below = exprs_.add(made.below, period);
  if (is(pad_guard_lower_dropped)) made.above = exprs_.constant(0);
  if (is(pad_guard_upper_dropped)) made.below = exprs_.constant(0);
  if (is(interior_phase_ignored)) made.phase = exprs_.mod(o, period);
  return made;
}

Expr WrongIndexMaps::pad_repeating_axis(ir::PadMode mode, Expr i, Expr n) {
  const Expr zero = exprs_.constant(0);
  const Expr one = exprs_.constant(1);
  const Expr two = exprs_.constant(2);
  if (is(symmetric_edge_skipped) && mode == ir::PadMode::symmetric) mode = ir::PadMode::reflect;
  if (is(edge_clamped_late) && mode == ir::PadMode::edge) return exprs_.min(exprs_.max(i, zero), n);
  if (is(wrap_negative_lap) && mode == ir::PadMode::wrap) i = exprs_.max(i, zero);
  if (is(wrap_period_long) && mode == ir::PadMode::wrap) return exprs_.mod(i, exprs_.add(n, one));
  const bool reflects = mode == ir::PadMode::reflect && (is(reflect_period_long) || is(reflect_fold_late));
  const bool repeats_edge = mode == ir::PadMode::symmetric && is(symmetric_fold_late);
  if (!reflects && !repeats_edge) return IndexMaps::pad_repeating_axis(mode, i, n);
  Expr period = exprs_.max(exprs_.mul(two, reflects ? exprs_.sub(n, one) : n), one);
  if (is(reflect_period_long)) period = exprs_.add(period, one);
  const Expr t = exprs_.mod(i, period);
  const Expr folded = exprs_.sub(period, t);  // of the symmetric mode one less would be right
  return exprs_.min(t, is(reflect_fold_late) ? exprs_.add(folded, two) : folded);
}

std::vector<Expr> WrongIndexMaps::slice(const ir::SliceAttributes& slice, const std::vector<Expr>& coordinates) {
  ir::SliceAttributes wrong = slice;
  for (std::int64_t& step : wrong.step) step = is(slice_step_ignored) ? 1 : is(slice_step_long) ? step + 1 : step;
  if (is(slice_start_ignored))
    for (Expr& start : wrong.start) start = exprs_.constant(0);
  return IndexMaps::slice(wrong, coordinates);
}

std::vector<Expr> WrongIndexMaps::transpose(const ir::TransposeAttributes& transpose,
                                            const std::vector<Expr>& coordinates) {
  if (!is(transpose_inverted)) return IndexMaps::transpose(transpose, coordinates);
  std::vector<Expr> source;
  for (const int axis : transpose.permutation) source.push_back(coordinates[static_cast<std::size_t>(axis)]);
  return source;
}

/// As if elements were numbered column by column.
Expr WrongIndexMaps::merge(std::span<const Expr> coordinates, std::span<const Expr> extents, std::vector<Expr>& facts) {
  if (!is(reshape_merge_swapped)) return IndexMaps::merge(coordinates, extents, facts);
  const std::vector<Expr> turned_coordinates(coordinates.rbegin(), coordinates.rend());
  const std::vector<Expr> turned_extents(extents.rbegin(), extents.rend());
  return IndexMaps::merge(turned_coordinates, turned_extents, facts);
}

std::vector<Expr> WrongIndexMaps::split(Expr number, std::span<const Expr> extents) {
  const bool swapped = is(reshape_split_swapped);
  std::vector<Expr> wrong =
      swapped ? std::vector<Expr>(extents.rbegin(), extents.rend()) : std::vector<Expr>(extents.begin(), extents.end());
  // A group's last axis is one element too long.
  if (is(reshape_remainder_long)) wrong.back() = exprs_.add(wrong.back(), exprs_.constant(1));
  std::vector<Expr> coordinates = IndexMaps::split(number, wrong);
  if (swapped) std::ranges::reverse(coordinates);
  return coordinates;
}

/// The end elements of a reflected axis have one image a lap: doubled, they get their neighbour's, too.
Walk WrongIndexMaps::walk_of(const AdjointAxis& axis) {
  const Expr one = exprs_.constant(1);
  Walk walk = IndexMaps::walk_of(axis);
  // Its walks meet every coordinate; of others the proof asks about coordinates that they pass over.
  if (is(adjoint_walk_long) && axis.mode == ir::PadMode::edge) walk.limit = exprs_.add(walk.limit, one);
  if (is(adjoint_lap_dropped) && axis.mode != ir::PadMode::edge)
    walk.limit = exprs_.min(walk.limit, exprs_.add(exprs_.add(walk.first, walk.step), walk.other));
  if (is(adjoint_end_doubled) && axis.mode == ir::PadMode::reflect) {
    const Expr lap = exprs_.max(exprs_.mul(exprs_.constant(2), exprs_.sub(axis.n, one)), one);
    walk.step = exprs_.max(exprs_.mod(walk.step, lap), one);
  }
  return walk;
}

std::vector<Expr> WrongIndexMaps::single_conditions(const AdjointAxis& axis) {
  std::vector<Expr> all = IndexMaps::single_conditions(axis);
  if (is(adjoint_mirror_dropped) && axis.mode != ir::PadMode::constant) all[2] = exprs_.add(all[2], exprs_.constant(1));
  return all;
}

/// An element that both sides take has three images; a piece has two of them.
std::vector<AdjointPiece> WrongIndexMaps::ends_of(const AdjointAxis& axis) {
  std::vector<AdjointPiece> pieces = IndexMaps::ends_of(axis);
  const Expr apart = exprs_.sub(exprs_.sub(axis.n, axis.low), axis.high);
  for (AdjointPiece& piece : pieces) {
    if (is(adjoint_sides_overlap))
      std::erase_if(piece.when, [&](const Condition& c) { return exprs_.sub(c.expr, apart).is_constant(); });
    if (is(adjoint_mirror_shifted) && piece.coordinates.size() > 1)
      piece.coordinates.front() = exprs_.sub(piece.coordinates.front(), exprs_.constant(1));
  }
  return pieces;
}

Expr WrongIndexMaps::repeated(Expr operand_extent, Expr result_extent, Expr coordinate) {
  return is(broadcast_axis_kept) ? coordinate : IndexMaps::repeated(operand_extent, result_extent, coordinate);
}

std::vector<ConcatPiece> WrongIndexMaps::concat(const std::vector<std::pair<ir::ValueId, Expr>>& operands,
                                                Expr coordinate) {
  std::vector<ConcatPiece> pieces = IndexMaps::concat(operands, coordinate);
  const int late = is(concat_cut_overlong) ? 1 : is(concat_cut_early) ? -1 : 0;
  for (ConcatPiece& piece : pieces) {
    if (is(concat_start_ignored)) piece.coordinate = coordinate;
    if (!piece.below || late == 0) continue;
    piece.below->expr = exprs_.add(piece.below->expr, exprs_.constant(late));
    piece.conditions.back() = *piece.below;
  }
  if (is(concat_start_ignored))
    for (ConcatPiece& piece : pieces)
      std::erase_if(piece.conditions,
                    [&](const Condition& condition) { return !(piece.below && condition.expr == piece.below->expr); });
  return pieces;
}

}  // namespace padlock::compiler
