#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/schedule/gpu/box_sizes.h"
#include "compiler/schedule/gpu/covers.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kThreads = 128;
/// Bytes of the barrier at the beginning of shared memory.
constexpr std::int64_t kBarrierBytes = 16;
enum VariableOrder { kRows = 850, kSlices = 854, kColumns = 858, kFirst = 870, kLast = 880 };  // below a grid's

class BoxMaker {
 public:
  BoxMaker(Schedule& schedule, const ScheduleOptions& options)
      : schedule_(schedule),
        options_(options),
        kernel_(schedule.kernel),
        exprs_(schedule.exprs()),
        zero_(exprs_.constant(0)),
        one_(exprs_.constant(1)),
        column_(kernel_.coordinate(kernel_.rank() - 1)) {}

  [[nodiscard]] bool make() {
    if (kernel_.rank() < 2 || schedule_.cases.size() != 1 || schedule_.cases[0].calls.size() != 1) return false;
    widest_ = widest_bytes(body(), /*for_threads=*/true);
    boxes_.lanes = std::min(options_.vector_bytes, kVectorBytes) / widest_;
    boxes_.threads = kThreads;
    boxes_.kind = options_.blocks->boxes;
    if (!choose_axes() || !takes_nodes() ||
        !std::ranges::all_of(body().loads, [&](const BodyLoad& load) { return takes_guard(load.guard); }))
      return false;
    add_parts();
    for (std::size_t i = 0; i < body().loads.size(); ++i)
      if (!add_load(body().loads[i], sources()[i])) return false;
    if (boxes_.stages.empty()) return false;
    place_stages();
    if (has_strips(boxes_)) boxes_.period = box_strip_period(kernel_, boxes_);
    choose_box_sizes(schedule_, boxes_, widest_);
    schedule_.bodies[0].strategies = make_loop_strategies(exprs_, {.whole = true});
    schedule_.bodies[0].lanes = 1;
    schedule_.cover = std::move(boxes_);
    return true;
  }

 private:
  [[nodiscard]] const Body& body() const { return schedule_.bodies[0]; }
  [[nodiscard]] const std::vector<LoadSource>& sources() const { return schedule_.cases[0].calls[0].sources; }

  [[nodiscard]] bool takes_nodes() const {
    return std::ranges::all_of(body().nodes, [&](const BodyNode& node) {
      return node.kind != NodeKind::sum && node.kind != NodeKind::index && takes_guard(node.guard) &&
             (node.kind != NodeKind::when || boxes_.lanes * ir::byte_size(node.dtype) >= 4);
    });
  }

  /// Returns whether each condition of a guard holds for a range of columns in each row, or for all of the row.
  [[nodiscard]] bool takes_guard(PredicateId guard) const {
    return std::ranges::all_of(kernel_.graph.conditions_of(guard), [&](ConditionId id) {
      return column_condition(kernel_, boxes_.column_axis, kernel_.graph.condition(id)).has_value();
    });
  }
  [[nodiscard]] bool moves_with_columns(const LoadSource& source) const {
    return std::ranges::any_of(source.coordinates, [&](Expr c) {
      return mentions(c, column_) || mentions(c, kernel_.coordinate(boxes_.column_axis));
    });
  }

  // --- axes ---------------------------------------------------------------------------------------------------------

  /// Returns the output axis along which a load is contiguous; the last axis if the load does not depend on columns.
  /// Nullopt if it follows several axes, or does not move by one element per column.
  [[nodiscard]] std::optional<int> contiguous_axis(const LoadSource& source) const {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    if (std::ranges::none_of(source.coordinates, [&](Expr c) { return mentions(c, column_); }))
      return kernel_.rank() - 1;
    for (std::size_t at = 0; at < source.coordinates.size(); ++at) {
      if (!layout.strides()[at].is_constant(1)) continue;
      for (int axis = 0; axis < kernel_.rank(); ++axis)
        if (mentions(source.coordinates[at], kernel_.coordinate(axis))) return axis;
    }
    return std::nullopt;
  }

  /// Chooses the axes. All loads that move with the columns must be contiguous along one axis A; P is the last but one.
  /// Joined columns: A is P, the first axis of the columns; rows go along the axis before. Else, if A is the last axis,
  /// all others number rows. Otherwise P numbers rows, and slices go along the axis before P if A is P, else along A.
  /// Parts of columns: A is P.
  [[nodiscard]] bool choose_axes() {
    int across = kernel_.rank() - 1;
    for (const LoadSource& source : sources()) {
      const std::optional<int> axis = contiguous_axis(source);
      if (!axis || (across + 1 < kernel_.rank() && *axis + 1 < kernel_.rank() && across != *axis)) return false;
      across = std::min(across, *axis);
    }
    boxes_.column_axis = kernel_.rank() - 1;
    const int last_outer = kernel_.rank() - 2;
    if (options_.blocks->boxes == BoxKind::joined) {
      boxes_.column_axis = last_outer;
      boxes_.row_axis = std::max(last_outer - 1, 0);
      across_ = kBoxRow;
      return across == last_outer;
    }
    if (options_.blocks->boxes == BoxKind::parts && across != last_outer) return false;
    if (across > last_outer) return true;
    boxes_.row_axis = last_outer;
    boxes_.slice = across == last_outer ? last_outer - 1 : across;
    across_ = across == last_outer ? kBoxRow : kBoxSlice;
    return true;
  }
  [[nodiscard]] bool is_turned() const { return across_.has_value(); }
  [[nodiscard]] bool has_two_axes() const { return boxes_.column_axis + 1 < kernel_.rank(); }

  void add_parts() {
    Expr rows = one_;
    for (int axis = boxes_.row_axis; axis < boxes_.column_axis; ++axis) {
      rows = exprs_.mul(rows, kernel_.extent(axis));
      boxes_.first.push_back(exprs_.variable(fmt::format("first{}", axis), kFirst + axis));
      boxes_.last.push_back(exprs_.variable(fmt::format("last{}", axis), kLast + axis));
    }
    boxes_.rows = make_box_part(exprs_, rows, {"step", "box", "from_row", "last_row"}, kRows);
    if (across_ == kBoxSlice || has_two_axes() || boxes_.kind == BoxKind::parts)
      boxes_.columns = make_box_part(exprs_, kernel_.extent(boxes_.column_axis),
                                     {"width", "part", "from_column", "last_column"}, kColumns);
    if (boxes_.slice >= 0)
      boxes_.slices =
          make_box_part(exprs_, kernel_.extent(boxes_.slice), {"slices", "slice", "from_slice", "last_slice"}, kSlices);
    for (const auto& part : {boxes_.columns, boxes_.slices, std::optional(boxes_.rows)})
      if (part) boxes_.digits.push_back({part->number, part->parts});
    for (int axis = boxes_.row_axis - 1; axis >= 0; --axis)
      if (axis != boxes_.slice) boxes_.digits.push_back({kernel_.coordinate(axis), kernel_.extent(axis)});
  }

  // --- stages -------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool add_load(const BodyLoad& load, const LoadSource& source) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    if (load.scope >= 0 || boxes_.lanes * ir::byte_size(load.dtype) < 4) return false;
    boxes_.stage_of.push_back(-1);
    if (!moves_with_columns(source)) return true;
    boxes_.stage_of.back() = static_cast<int>(boxes_.stages.size());
    const auto stage = is_turned() ? make_turned_stage(source, layout) : make_stage(source, layout);
    if (stage) boxes_.stages.push_back(*stage);
    return stage.has_value();
  }

  /// Chooses what a thread turns at a time. Enough bytes must be on their way, and take few registers. (An H200: bytes
  /// to parts of 40 x 40 x 128, 67 us with 4 columns, 58 with 8, which do not fit the registers of as many threads;
  /// bytes of 8 channels to planes 79 us with 2 words of 4 columns, 63 with one of 8.) Where slices lie across, few may
  /// lie together, and what follows them is the next column: so the columns of consecutive threads are adjacent, as far
  /// as a thread does not turn them (8 channels of f16 to planes 67 and 60 us; words are no faster so).
  [[nodiscard]] BoxTurn turn_of(int lanes) const {
    BoxTurn turn{.across = *across_, .lanes = lanes};
    if (*across_ == kBoxRow && lanes == 1) turn.words = 4;
    if (*across_ == kBoxSlice && lanes == 4) turn.words = 1;
    if (turn.words == 1 || (boxes_.kind == BoxKind::parts && lanes > 1)) turn.columns = 8;
    turn.adjacent = *across_ == kBoxSlice && lanes > 1 ? lanes : turn.columns;
    return turn;
  }

  /// Makes a stage in which each tensor axis follows one output axis, one coordinate for one.
  [[nodiscard]] std::optional<BoxStage> make_turned_stage(const LoadSource& source, const ir::Layout& layout) {
    const int size = ir::byte_size(kernel_.program->value(source.tensor).dtype);
    if (size > 4) return std::nullopt;
    BoxStage stage{.tensor = source.tensor, .layout = source.layout, .from = {}, .last = {}};
    BoxTurn turn = turn_of(4 / size);
    turn.origin.fill(zero_);
    std::vector<int> taken;
    for (std::size_t at = 0; at < source.coordinates.size(); ++at) {
      int with = -1;
      for (int axis = 0; axis < kernel_.rank(); ++axis)
        if (mentions(source.coordinates[at], kernel_.coordinate(axis))) with = axis;
      if (with < 0 || std::ranges::find(taken, with) != taken.end()) return std::nullopt;
      taken.push_back(with);
      const auto form = affine_in(exprs_, source.coordinates[at], kernel_.coordinate(with));
      if (!form || form->slope != 1) return std::nullopt;
      const RunEnds range = box_range(kernel_, boxes_, with);
      const RunEnds ends = run_ends(exprs_, range.from, range.last, form->rest, layout.extents()[at]);
      stage.from.push_back(ends.from);
      stage.last.push_back(ends.last);
      const std::optional<BoxAxis> role = box_axis(kernel_, boxes_, with);
      if (!role) continue;
      turn.axes[*role] = static_cast<int>(at);
      const Expr word = exprs_.constant(turn.lanes);
      turn.origin[*role] = role == across_ ? exprs_.sub(ends.from, exprs_.mod(ends.from, word)) : ends.from;
    }
    const int contiguous = turn.axes[*across_];
    if (contiguous < 0 || turn.axes[kBoxColumn] < 0 ||
        !layout.strides()[static_cast<std::size_t>(contiguous)].is_constant(1))
      return std::nullopt;
    turn.layout = turned_layout(kernel_, boxes_, turn, layout);
    stage.turn = std::move(turn);
    return stage;
  }

  /// Makes a stage whose tensor rows have the order of the box's rows: each tensor axis follows one output axis. Axes
  /// before the last two are read as they are. The last but one follows the rows; some of its coordinates may lie
  /// before the tensor's first or after its last.
  [[nodiscard]] std::optional<BoxStage> make_stage(const LoadSource& source, const ir::Layout& layout) {
    BoxStage stage{.tensor = source.tensor, .layout = source.layout, .from = {}, .last = {}};
    const auto rank = static_cast<int>(source.coordinates.size());
    if (rank != kernel_.rank()) return std::nullopt;
    for (int axis = 0; axis < rank; ++axis) {
      const auto form = affine_in(exprs_, source.coordinates[static_cast<std::size_t>(axis)], kernel_.coordinate(axis));
      if (!form || form->slope != 1 || (axis + 1 < rank && !layout.next_axis_continues(exprs_, axis)))
        return std::nullopt;
      const Expr extent = layout.extents()[static_cast<std::size_t>(axis)];
      RunEnds ends = box_range(kernel_, boxes_, axis);
      if (axis + 2 >= rank)
        ends = run_ends(exprs_, ends.from, ends.last, form->rest, extent);
      else if (!form->rest.is_constant(0) || extent != kernel_.extents[static_cast<std::size_t>(axis)])
        return std::nullopt;
      stage.from.push_back(ends.from);
      stage.last.push_back(ends.last);
    }
    stage.columns = exprs_.sub(exprs_.add(stage.last.back(), one_), stage.from.back());
    stage.first = layout.offset_of(exprs_, stage.from);
    stage.elements = exprs_.add(exprs_.sub(layout.offset_of(exprs_, stage.last), stage.first), one_);
    const Expr row = layout.strides()[static_cast<std::size_t>(rank - 2)];
    stage.capacity = exprs_.add(
        exprs_.mul(exprs_.sub(box_stage_rows(exprs_, kernel_, boxes_, source, layout), one_), row), stage.columns);
    return stage;
  }

  void place_stages() {
    boxes_.shared_bytes = exprs_.constant(kBarrierBytes);
    for (BoxStage& stage : boxes_.stages) {
      if (stage.turn) stage.capacity = stage.turn->layout.span(exprs_);
      stage.place = boxes_.shared_bytes;
      stage.bytes = box_stage_bytes(exprs_, stage, kernel_.program->value(stage.tensor).dtype);
      boxes_.shared_bytes = exprs_.add(boxes_.shared_bytes, stage.bytes);
    }
  }

  Schedule& schedule_;
  const ScheduleOptions& options_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr zero_, one_, column_;
  int widest_ = 1;
  std::optional<BoxAxis> across_;  // the contiguous axis of turned stages
  Boxes boxes_;
};

}  // namespace

bool cover_by_boxes(Schedule& schedule, const ScheduleOptions& options) { return BoxMaker(schedule, options).make(); }

}  // namespace padlock::compiler
