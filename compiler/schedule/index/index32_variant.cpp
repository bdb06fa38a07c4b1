#include "compiler/schedule/index/index32_variant.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index_width.h"

namespace padlock::compiler {

using ir::ExprKind;

namespace {

/// Requires each size to lie between -bound and bound, unless that is known.
std::vector<abi::Guard> guards_of(ir::ExprContext& exprs, const std::vector<Expr>& sizes, Int128 bound) {
  std::vector<abi::Guard> guards;
  const auto add = [&](Expr size, ir::Comparison comparison, Int128 limit) {
    guards.push_back({abi::Assumption::index32, {size, comparison, exprs.constant(limit)}});
  };
  for (const Expr size : sizes) {
    if (size.range().hi > bound) add(size, ir::Comparison::le, bound);
    if (size.range().lo < -bound) add(size, ir::Comparison::ge, -bound);
  }
  return guards;
}

/// Returns the shapes of a GPU's tiles; a single null without tiles.
std::vector<const TransposeTile*> shapes_of(const Schedule& schedule) {
  if (schedule.tiles() == nullptr) return {nullptr};
  std::vector<const TransposeTile*> shapes;
  for (const TransposeTile& tile : schedule.tiles()->shapes) shapes.push_back(&tile);
  return shapes;
}

/// Adds the sizes by which coordinates are multiplied in an address, without constants.
void add_strides(ir::ExprContext& exprs, std::vector<Expr>& all, Expr address) {
  if (!address.valid() || !address.has_coordinate()) return;
  if (address.kind() != ExprKind::sum && address.kind() != ExprKind::product) return;
  Expr stride = exprs.constant(1);
  for (const Expr operand : address.operands())
    if (operand.has_coordinate())
      add_strides(exprs, all, operand);
    else if (address.kind() == ExprKind::product)
      stride = exprs.mul(stride, operand);
  if (!stride.is_constant()) all.push_back(stride);
}

/// Returns the strides of all loads, and of the output if its elements have addresses of their own. A grid's offsets
/// have as many bits as its indices, so their strides may be anything.
std::vector<Expr> strides_of(const Schedule& schedule, const TransposeTile* tile) {
  std::vector<Expr> all;
  ir::ExprContext& exprs = schedule.exprs();
  const auto add_offset = [&](Expr offset) {
    if (schedule.grid() == nullptr) add_strides(exprs, all, offset);
  };
  for (const LoadSource& source : schedule.sources()) add_offset(source.base);
  for (const Body& body : schedule.bodies) {
    for (const BodyNode& node : body.nodes) add_strides(exprs, all, node.index);
    for (const BodyLoad& load : body.loads) {
      add_offset(load.offset);
      if (load.kind == LoadKind::strided) all.push_back(load.step);
    }
  }
  if (tile == nullptr) return all;
  add_strides(exprs, all, schedule.kernel.element_at(schedule.kernel.column()));
  all.push_back(tile->stored_step);
  return all;
}

/// Returns the elements of each tensor that is read, and of the results.
std::vector<Expr> elements_of(const Schedule& schedule) {
  ir::ExprContext& exprs = schedule.exprs();
  std::vector<Expr> all = {exprs.mul(schedule.rows, schedule.columns)};
  std::set<ir::ValueId> seen;
  for (const LoadSource& source : schedule.sources())
    if (seen.insert(source.tensor).second)
      all.push_back(schedule.kernel.program->value(source.tensor).layout.span(exprs));
  return all;
}

/// Collects the exact values of a GPU's kernel, which it compares, divides or steps by: expressions of coordinates, and
/// the extents of a launch.
std::vector<Expr> exact_in(const Schedule& schedule, const TransposeTile* tile) {
  std::vector<Expr> all = {schedule.blocks(), schedule.columns};
  if (tile == nullptr) all.push_back(schedule.rows);
  if (const Boxes* const boxes = schedule.boxes()) {
    ir::ExprContext& exprs = schedule.exprs();
    all.push_back(boxes->rows.launched);
    all.push_back(box_columns(schedule.kernel, *boxes));
    // A stage has at least a word for each strip and vector, so shared memory bounds the numbers of all of a box.
    all.push_back(box_strip_vectors(schedule.kernel, *boxes));
    for (const std::optional<BoxPart>& part : {boxes->slices, boxes->columns})
      if (part) all.push_back(part->launched);
    for (const BoxDigit& digit : boxes->digits) all.push_back(at_launch(exprs, *boxes, digit.count));
    for (const BoxStage& stage : boxes->stages)
      if (stage.turn)
        for (const Expr e : stage.turn->layout.strides()) all.push_back(at_launch(exprs, *boxes, e));
    all.push_back(at_launch(schedule.exprs(), *boxes, boxes->shared_bytes));
  }
  const std::vector<Expr> strides = strides_of(schedule, tile);
  all.insert(all.end(), strides.begin(), strides.end());
  for (const ExactIndices& place : exact_indices(schedule, tile))
    all.insert(all.end(), place.exact.begin(), place.exact.end());
  return all;
}

/// Returns ranges of a run's columns, which a tile may pass, and of a tile's positions.
CoordinateRanges ranges_in(const Schedule& schedule, const TransposeTile* tile, const SizeRanges& sizes) {
  CoordinateRanges ranges = coordinate_ranges(schedule.kernel, sizes);
  const auto most = [&](Expr size) {
    const auto known = sizes.find(size.id());
    return std::max<Int128>(0, (known == sizes.end() ? size.range() : known->second).hi);
  };
  const RunVariables run(schedule.exprs());
  for (const Expr column : {run.column_first, run.column_last, run.begin, run.end})
    ranges[column.symbol()] = {0, most(schedule.columns) + kLongestBlock};
  if (const Boxes* const boxes = schedule.boxes()) {
    for (const std::optional<BoxPart>& part : {boxes->slices, boxes->columns, std::optional(boxes->rows)})
      if (part) {
        ranges[part->number.symbol()] = ranges[part->from.symbol()] = {0, most(part->total)};
        ranges[part->last.symbol()] = {-1, most(part->total)};
      }
    for (std::size_t axis = 0; axis < boxes->first.size(); ++axis)
      for (const Expr row : {boxes->first[axis], boxes->last[axis]})
        ranges[row.symbol()] = {0, most(schedule.kernel.extent(boxes->row_axis + static_cast<int>(axis)))};
  }
  if (tile == nullptr) return ranges;
  const Expr cross = schedule.kernel.extent(tile->axis);
  ranges[tile->cross_tile.symbol()] = {0, most(cross) / tile->side()};
  ranges[tile->column_tile.symbol()] = {0, (most(schedule.columns) + tile->halo() - 1) / tile->stored_columns()};
  ranges[tile->row.symbol()] = {0, tile->side() - 1};
  ranges[tile->column.symbol()] = {0, tile->columns() - 1};
  ranges[tile->phase.symbol()] = {0, tile->halo()};
  ranges[tile->needed.symbol()] = {0, tile->halo()};
  ranges[tile->slot.symbol()] = {0, tile->positions() + kLongestBlock};
  for (const TileDigit& digit : tile->copied_digits) ranges[digit.value.symbol()] = {0, digit.count.constant() - 1};
  ranges[tile->round.symbol()] = {0, tile->rounds() - 1};
  ranges[tile->square.symbol()] = {0, tile->squares() - 1};
  ranges[tile->line.symbol()] = {0, tile->lanes - 1};
  return ranges;
}

}  // namespace

bool indices_fit(const Schedule& schedule, const std::vector<Expr>& sizes, std::int64_t bound) {
  SizeRanges ranges;
  for (const Expr size : sizes)
    ranges[size.id()] = {std::max<Int128>(size.range().lo, -bound), std::min<Int128>(size.range().hi, bound)};
  return std::ranges::all_of(shapes_of(schedule), [&](const TransposeTile* tile) {
    IndexWidths widths(schedule.exprs(), ranges_in(schedule, tile, ranges), ranges);
    return std::ranges::all_of(exact_in(schedule, tile), [&](Expr e) { return widths.fit(e, 32); });
  });
}

Index32Variant choose_index32_variant(Schedule& schedule) {
  if (!schedule.is_for_gpu()) return {};
  std::vector<Expr> all;
  for (const TransposeTile* tile : shapes_of(schedule))
    std::ranges::copy(exact_in(schedule, tile), std::back_inserter(all));
  std::ranges::copy(schedule.kernel.extents, std::back_inserter(all));
  for (const Kernel::WalkVariable& inner : schedule.kernel.inner_variables()) all.push_back(inner.extent);
  for (const SegmentCall& call : schedule.calls()) all.insert(all.end(), {call.begin, call.end});
  const std::vector<Expr> sizes = sizes_in(schedule.exprs(), all);
  for (const int bits : {30, 29, 28, 27, 24}) {
    const std::int64_t bound = std::int64_t{1} << bits;
    if (!indices_fit(schedule, sizes, bound)) continue;
    Index32Variant made{.bound = bound, .sizes = sizes, .elements = {}, .guards = {}};
    made.elements = elements_of(schedule);
    made.guards = guards_of(schedule.exprs(), made.sizes, bound);
    const auto may_be_more = [](Expr elements) { return elements.range().hi > Index32Variant::kMostElements; };
    if (schedule.grid() != nullptr && !schedule.grid()->by_element) {
      made.in_parts = std::ranges::any_of(made.elements, may_be_more);
      if (made.in_parts) made.reaches = set_reaches(schedule);
      return made;
    }
    for (const Expr elements : made.elements)
      if (may_be_more(elements))
        made.guards.push_back(
            {abi::Assumption::offset32,
             {elements, ir::Comparison::le, schedule.exprs().constant(Index32Variant::kMostElements)}});
    return made;
  }
  return {};
}

}  // namespace padlock::compiler
