#include "compiler/kernel/index_maps.h"

#include "ir/expr/linear_form.h"

namespace padlock::compiler {

bool IndexMaps::in_range(Expr i, Expr n) const {
  return facts_.proves_nonnegative(i) && facts_.proves_nonnegative(exprs_.sub(exprs_.sub(n, exprs_.constant(1)), i));
}

PadMap IndexMaps::pad(const ir::PadAttributes& pad, const ir::Value& operand, const std::vector<Expr>& coordinates) {
  PadMap map;
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    const Expr o = coordinates[axis];
    const Expr n = operand.extents()[axis];
    const Expr i = exprs_.sub(o, pad.low[axis]);
    if (pad.mode == ir::PadMode::constant) {
      pad_constant_axis(map, i, o, n, pad.interior[axis]);
      continue;
    }
    const bool is_inside = in_range(i, n);
    map.coordinates.push_back(is_inside ? i : pad_repeating_axis(pad.mode, i, n));
    if (!is_inside && n.range().lo < 1) map.facts.push_back(exprs_.sub(n, exprs_.constant(1)));
  }
  return map;
}

IndexMaps::Inside IndexMaps::inside(Expr i, Expr, Expr n, Expr period) {
  const Expr last = exprs_.mul(exprs_.sub(n, exprs_.constant(1)), period);
  return {.above = i, .below = exprs_.sub(last, i), .phase = exprs_.mod(i, period)};
}

/// Appends the coordinate and the conditions 0 <= i <= (n - 1) * (k + 1) and (k + 1) divides i. Conditions that always
/// hold are left out. For n = 0 the first two contradict each other, as they should.
void IndexMaps::pad_constant_axis(PadMap& map, Expr i, Expr o, Expr n, std::int64_t interior) {
  const Expr period = exprs_.constant(Int128{interior} + 1);
  const Inside all = inside(i, o, n, period);
  for (const Expr side : {all.above, all.below}) {
    if (facts_.proves_positive(exprs_.neg(side))) map.never = true;
    if (!facts_.proves_nonnegative(side)) map.conditions.push_back({side, Condition::Kind::nonnegative});
  }
  if (interior > 0 && !all.phase.is_constant(0)) map.conditions.push_back({all.phase, Condition::Kind::zero});
  map.coordinates.push_back(exprs_.floordiv(i, period));
}

/// The closed forms of the modes that repeat the input. They are total: divisors are at least 1 on an empty axis too,
/// though no element of it is read. For t in [0, p): `t < n ? t : p - t` is min(t, p - t) when p = 2(n - 1) or when p =
/// 1 = n, and `t < n ? t : 2n - 1 - t` is min(t, 2n - 1 - t).
Expr IndexMaps::pad_repeating_axis(ir::PadMode mode, Expr i, Expr n) {
  const Expr zero = exprs_.constant(0);
  const Expr one = exprs_.constant(1);
  const Expr two = exprs_.constant(2);
  const Expr last = exprs_.sub(n, one);
  switch (mode) {
    case ir::PadMode::constant:
      break;  // these have conditions instead
    case ir::PadMode::edge:
      return exprs_.min(exprs_.max(i, zero), last);
    case ir::PadMode::reflect: {
      const Expr period = exprs_.max(exprs_.mul(two, last), one);
      const Expr t = exprs_.mod(i, period);
      return exprs_.min(t, exprs_.sub(period, t));
    }
    case ir::PadMode::symmetric: {
      const Expr period = exprs_.max(exprs_.mul(two, n), one);
      const Expr t = exprs_.mod(i, period);
      return exprs_.min(t, exprs_.sub(exprs_.sub(period, one), t));
    }
    case ir::PadMode::wrap:
      return exprs_.mod(i, exprs_.max(n, one));
  }
  return i;
}

std::vector<Expr> IndexMaps::slice(const ir::SliceAttributes& slice, const std::vector<Expr>& coordinates) {
  std::vector<Expr> source;
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    const Expr scaled = exprs_.mul(exprs_.constant(slice.step[axis]), coordinates[axis]);
    source.push_back(exprs_.add(slice.start[axis], scaled));
  }
  return source;
}

std::vector<Expr> IndexMaps::transpose(const ir::TransposeAttributes& transpose, const std::vector<Expr>& coordinates) {
  std::vector<Expr> source(coordinates.size());
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    source[static_cast<std::size_t>(transpose.permutation[axis])] = coordinates[axis];
  }
  return source;
}

Expr IndexMaps::repeated(Expr operand_extent, Expr result_extent, Expr coordinate) {
  const bool repeats = operand_extent.is_constant(1) && !result_extent.is_constant(1);
  return repeats ? exprs_.constant(0) : coordinate;
}

std::vector<Expr> IndexMaps::broadcast(const ir::BroadcastAttributes& broadcast, const ir::Value& operand,
                                       const ir::Value& result, const std::vector<Expr>& coordinates) {
  std::vector<Expr> source;
  for (std::size_t axis = 0; axis < broadcast.axes.size(); ++axis) {
    const auto to = static_cast<std::size_t>(broadcast.axes[axis]);
    source.push_back(repeated(operand.extents()[axis], result.extents()[to], coordinates[to]));
  }
  return source;
}

TakenAxis IndexMaps::take(Expr number, Expr extent) {
  const Expr coordinate = exprs_.sub(number, exprs_.constant(1));
  return {.coordinate = coordinate, .extent = extent, .conditions = {{coordinate, Condition::Kind::nonnegative}}};
}

Search IndexMaps::search(Search search) {
  search.middle = exprs_.floordiv(exprs_.add(search.low, search.high), exprs_.constant(2));
  search.above = exprs_.add(search.middle, exprs_.constant(1));
  search.below = search.middle;
  return search;
}

std::vector<Expr> IndexMaps::elementwise(const ir::Value& operand, std::span<const Expr> extents,
                                         std::span<const Expr> coordinates) {
  std::vector<Expr> source;
  const std::size_t missing = coordinates.size() - operand.extents().size();
  for (std::size_t axis = 0; axis < operand.extents().size(); ++axis)
    source.push_back(repeated(operand.extents()[axis], extents[missing + axis], coordinates[missing + axis]));
  return source;
}

/// Total: if an extent is 0, divisors are 1 and nothing is read.
std::vector<Expr> IndexMaps::split(Expr number, std::span<const Expr> extents) {
  std::vector<Expr> coordinates(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 1;) {
    const Expr extent = exprs_.max(extents[axis], exprs_.constant(1));
    coordinates[axis] = exprs_.mod(number, extent);
    number = exprs_.floordiv(number, extent);
  }
  coordinates[0] = number;
  return coordinates;
}

/// Bounds an element's number, and each coordinate's share of it: storage has less than 2^47 bytes.
void IndexMaps::add_element_bounds(Expr number, std::vector<Expr>& facts) {
  const auto add = [&](Expr e) {
    if (e.range().lo < 0) facts.push_back(e);
    facts.push_back(exprs_.sub(exprs_.constant(ir::kMaxStorageBytes), e));
  };
  add(number);
  const ir::LinearForm form = ir::LinearForm::of(number);
  if (form.is_monomial() && form.coefficients[0] > 1) add(form.terms[0]);
}

/// Adds what an element's existence implies: no extent is 0, and the first coordinate (the last quotient) lies in its
/// extent.
void IndexMaps::add_facts(Expr number, std::span<const Expr> extents, std::vector<Expr>& facts) {
  const Expr one = exprs_.constant(1);
  for (std::size_t axis = extents.size(); axis-- > 1;) {
    if (!extents[axis].is_constant()) facts.push_back(exprs_.sub(extents[axis], one));
    number = exprs_.floordiv(number, exprs_.max(extents[axis], one));
    // For other terms than the number's own, the quotient's bounds do not show in the number's bounds.
    if (number.kind() != ir::ExprKind::symbol) add_element_bounds(number, facts);
  }
  if (number.range().lo < 0) facts.push_back(number);
  facts.push_back(exprs_.sub(exprs_.sub(extents[0], one), number));
}

Expr IndexMaps::merge(std::span<const Expr> coordinates, std::span<const Expr> extents, std::vector<Expr>& facts) {
  Expr number = exprs_.constant(0);
  Expr stride = exprs_.constant(1);
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis].is_constant(1)) continue;
    const Expr part = exprs_.mul(coordinates[axis], stride);
    number = exprs_.add(number, part);
    stride = exprs_.mul(stride, extents[axis]);
    for (const Expr e : {part, number})
      if (e.kind() != ir::ExprKind::symbol) add_element_bounds(e, facts);
  }
  return number;
}

std::vector<Expr> IndexMaps::reshape(std::span<const ReshapeGroup> groups, const ir::Value& operand,
                                     const ir::Value& result, const std::vector<Expr>& coordinates,
                                     std::vector<Expr>& facts) {
  std::vector<Expr> source(operand.extents().size(), exprs_.constant(0));
  for (const ReshapeGroup& group : groups) {
    const std::size_t merged = group.result_last - group.result_first;
    const Expr number = merge(std::span(coordinates).subspan(group.result_first, merged),
                              result.extents().subspan(group.result_first, merged), facts);
    std::vector<std::size_t> axes;
    std::vector<Expr> extents;
    for (std::size_t axis = group.operand_first; axis < group.operand_last; ++axis)
      if (!operand.extents()[axis].is_constant(1)) {
        axes.push_back(axis);
        extents.push_back(operand.extents()[axis]);
      }
    if (axes.empty()) continue;
    const std::vector<Expr> made = split(number, extents);
    if (number.kind() != ir::ExprKind::symbol || axes.size() > 1) add_facts(number, extents, facts);
    for (std::size_t i = 0; i < axes.size(); ++i) source[axes[i]] = made[i];
  }
  return source;
}

/// In each lap two coordinates have source j: the residues modulo a lap of low + j and of its mirror image. The walk
/// begins with the smaller residue, and steps to the other and back. If both are equal, their gap is 0 and both steps
/// are a lap.
Walk IndexMaps::walk_of(const AdjointAxis& axis) {
  const Expr zero = exprs_.constant(0);
  const Expr one = exprs_.constant(1);
  const auto plus = [&](Expr a, Expr b) { return exprs_.add(a, b); };
  const auto minus = [&](Expr a, Expr b) { return exprs_.sub(a, b); };
  const Expr at = plus(axis.low, axis.j);
  if (axis.mode == ir::PadMode::edge) {
    // The first element also stands for all before it, the last for all after it.
    const Expr is_first = exprs_.max(minus(one, axis.j), zero);
    const Expr is_last = exprs_.min(exprs_.max(plus(minus(axis.j, axis.n), exprs_.constant(2)), zero), one);
    const Expr before = exprs_.mul(is_first, exprs_.max(axis.low, zero));
    const Expr after = exprs_.mul(is_last, exprs_.max(axis.high, zero));
    return {.variable = {},
            .first = exprs_.max(minus(at, before), zero),
            .step = one,
            .other = one,
            .limit = exprs_.min(plus(plus(at, one), after), axis.m)};
  }
  const Expr laps = axis.mode == ir::PadMode::wrap        ? axis.n
                    : axis.mode == ir::PadMode::symmetric ? exprs_.mul(exprs_.constant(2), axis.n)
                                                          : exprs_.mul(exprs_.constant(2), minus(axis.n, one));
  const Expr period = exprs_.max(laps, one);
  const Expr here = exprs_.mod(at, period);
  if (axis.mode == ir::PadMode::wrap)
    return {.variable = {}, .first = here, .step = period, .other = period, .limit = axis.m};
  const Expr mirrored = minus(axis.low, axis.j);
  const Expr there = exprs_.mod(axis.mode == ir::PadMode::symmetric ? minus(mirrored, one) : mirrored, period);
  const Expr first = exprs_.min(here, there);
  const Expr gap = minus(exprs_.max(here, there), first);
  const Expr is_none = exprs_.min(exprs_.max(minus(one, gap), zero), one);
  const Expr step = exprs_.max(plus(gap, exprs_.mul(is_none, period)), one);
  const Expr back = exprs_.max(minus(period, gap), one);
  return {.variable = {}, .first = first, .step = step, .other = back, .limit = axis.m};
}

/// Returns expressions that are all >= 0 if low + j is the only coordinate with source j. It must lie in the padded
/// axis, and the previous and the next coordinate with source j must not.
std::vector<Expr> IndexMaps::single_conditions(const AdjointAxis& axis) {
  const Expr one = exprs_.constant(1);
  const auto minus = [&](Expr a, Expr b) { return exprs_.sub(a, b); };
  const Expr at = exprs_.add(axis.low, axis.j);
  const Expr last = minus(axis.n, one);
  std::vector<Expr> all = {at, minus(minus(axis.m, one), at)};
  switch (axis.mode) {
    case ir::PadMode::constant:
      break;
    case ir::PadMode::edge:
      all.insert(all.end(), {minus(axis.j, one), minus(minus(last, one), axis.j)});
      break;
    case ir::PadMode::reflect:
      all.insert(all.end(), {minus(minus(axis.j, axis.low), one), minus(minus(minus(last, one), axis.high), axis.j)});
      break;
    case ir::PadMode::symmetric:
      all.insert(all.end(), {minus(axis.j, axis.low), minus(minus(last, axis.high), axis.j)});
      break;
    case ir::PadMode::wrap:
      all.insert(all.end(), {minus(last, at), minus(axis.j, axis.high)});
      break;
  }
  return all;
}

/// Each condition but the last is over sizes alone, and the same in all pieces: 0 <= low, 0 <= high, and the two sides
/// of the padded axis share no element. Then nothing is a lap away, and an element has at most one mirror image.
std::vector<AdjointPiece> IndexMaps::ends_of(const AdjointAxis& axis) {
  const Expr one = exprs_.constant(1);
  const auto plus = [&](Expr a, Expr b) { return exprs_.add(a, b); };
  const auto minus = [&](Expr a, Expr b) { return exprs_.sub(a, b); };
  const Expr at = plus(axis.low, axis.j);
  const Expr last = minus(axis.n, one);
  const Expr rest = minus(minus(axis.n, axis.low), axis.high);
  std::vector<AdjointPiece> pieces;
  const auto add = [&](Expr apart, Expr where, std::vector<Expr> coordinates) {
    AdjointPiece piece{.when = {}, .coordinates = std::move(coordinates)};
    for (const Expr e : {axis.low, axis.high, apart, where}) {
      if (facts_.proves_positive(exprs_.neg(e))) return;
      if (!facts_.proves_nonnegative(e)) piece.when.push_back({e, Condition::Kind::nonnegative});
    }
    pieces.push_back(std::move(piece));
  };
  if (axis.mode == ir::PadMode::reflect) {
    const Expr apart = minus(rest, exprs_.constant(2));
    add(apart, exprs_.neg(axis.j), {at});
    add(apart, minus(axis.low, axis.j), {minus(axis.low, axis.j), at});
    add(apart, minus(axis.j, last), {at});
    add(apart, minus(plus(axis.j, axis.high), last),
        {at, minus(plus(axis.low, exprs_.mul(exprs_.constant(2), last)), axis.j)});
  } else if (axis.mode == ir::PadMode::symmetric) {
    add(rest, minus(minus(axis.low, one), axis.j), {minus(minus(axis.low, one), axis.j), at});
    add(rest, minus(plus(axis.j, axis.high), axis.n), {at, minus(plus(minus(at, axis.j), plus(axis.n, last)), axis.j)});
  } else if (axis.mode == ir::PadMode::wrap) {
    add(rest, minus(minus(axis.high, one), axis.j), {at, plus(at, axis.n)});
    add(rest, minus(at, axis.n), {minus(at, axis.n), at});
  }
  return pieces;
}

std::vector<AdjointMap> IndexMaps::pad_adjoint(const ir::PadAttributes& pad, const ir::Value& operand,
                                               const ir::Value& result, const std::vector<Expr>& coordinates) {
  std::vector<AdjointMap> maps;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    AdjointAxis axis{pad.mode, pad.low[i], pad.high[i], result.extents()[i], operand.extents()[i], coordinates[i]};
    const bool repeats = pad.mode != ir::PadMode::constant;
    if (!repeats) axis.j = exprs_.mul(axis.j, exprs_.constant(Int128{pad.interior[i]} + 1));
    AdjointMap& map = maps.emplace_back();
    map.extent = axis.m;
    map.coordinate = exprs_.add(axis.low, axis.j);
    if (repeats && axis.low.is_constant(0) && axis.high.is_constant(0)) continue;
    for (const Expr e : single_conditions(axis))
      if (!facts_.proves_nonnegative(e)) map.single.push_back({e, Condition::Kind::nonnegative});
    if (!repeats || map.single.empty()) continue;
    map.walk = walk_of(axis);
    map.ends = ends_of(axis);
  }
  return maps;
}

std::vector<ConcatPiece> IndexMaps::concat(const std::vector<std::pair<ir::ValueId, Expr>>& operands, Expr coordinate) {
  const Expr one = exprs_.constant(1);
  std::vector<ConcatPiece> pieces;
  Expr start = exprs_.constant(0);
  for (std::size_t i = 0; i < operands.size();) {
    const auto [operand, extent] = operands[i];
    std::size_t end = i + 1;
    while (end < operands.size() && operands[end].first == operand) ++end;
    const Expr local = exprs_.sub(coordinate, start);
    ConcatPiece piece{.operand = operand, .coordinate = local, .conditions = {}, .below = {}};
    if (pieces.empty() ? false : !facts_.proves_nonnegative(local))
      piece.conditions.push_back({local, Condition::Kind::nonnegative});
    // A run of one operand is a repetition: one coordinate for a run of any length and nesting.
    if (end - i > 1) piece.coordinate = exprs_.mod(local, exprs_.max(extent, one));
    start = exprs_.add(start, exprs_.mul(exprs_.constant(static_cast<Int128>(end - i)), extent));
    const Expr below = exprs_.sub(exprs_.sub(start, one), coordinate);
    i = end;
    if (extent.is_constant(0) && !(pieces.empty() && i == operands.size())) continue;
    if (!facts_.proves_nonnegative(below)) {
      piece.below = Condition{below, Condition::Kind::nonnegative};
      piece.conditions.push_back(*piece.below);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace padlock::compiler
