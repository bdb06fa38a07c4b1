#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/schedule/gpu/covers.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kThreads = 128;
/// Bytes of the rows of a box, of the output or of an input, if those are more: 12 boxes of a multiprocessor then have
/// as much on their way as its memory takes.
constexpr std::int64_t kBoxBytes = 12 << 10;
/// Bytes of a box that has slices of what lies across: more, since each has ends of its own.
constexpr std::int64_t kSlicedBoxBytes = 16 << 10;
/// Bytes that a turned stage takes of the tensor together, at least, as far as there are so many: of slices of bytes,
/// and of others, and of rows.
constexpr std::int64_t kBytesAcross = 64, kWideBytesAcross = 128, kFewestBytesAcross = 32;
constexpr std::int64_t kMostSharedBytes = 40 << 10;
/// Bytes of the barrier that shared memory begins with.
constexpr std::int64_t kBarrierBytes = 16;
/// Longer rows are no slower in a grid of vectors, most of which they have whole: of elements of less than 4 bytes, and
/// of others.
constexpr std::int64_t kLongestRow = 96, kLongestWideRow = 128;
/// Outputs that a cache holds are slower in boxes, which wait for all of a run before the first store, unless hardly a
/// vector lies in one row: an H100 takes from 24 MiB on 1.0 to 3.3 times as long without them, of less 0.6 to 2.2
/// times.
constexpr std::int64_t kFewestBytes = 24 << 20, kFewestBytesOfShortest = 16 << 10, kShortestRow = 48;
/// Smaller outputs are not worth a stage that is turned.
constexpr std::int64_t kFewestTurnedBytes = 1 << 20;
/// A launch has so many boxes, if there are bytes of the output for as many: 8 for each multiprocessor of an H100 or
/// H200.
constexpr std::int64_t kManyBoxes = 1056, kFewestBoxBytes = 1 << 10;
/// The longest rows of one axis that a turned stage is made of, and of two, in bytes. (An H100, 96 MiB, of a copy: u8
/// of 3, 8 and 24 channels .79, .85 and .85 with rows of two axes, .36, .77 and .74 with rows of one.)
constexpr std::int64_t kLongestTurnedRow = 1024, kLongestJoinedRow = 63;
/// Tiles are as fast where most of each is full: of rows of so many bytes, and so many elements across. Of kernels of
/// more axes the planes are padded, so that their rows are short.
constexpr std::int64_t kTiledRow = 256, kTiledAcross = 512;
constexpr int kMostSlicedRank = 3;
/// Rows of so few columns, and of whole vectors, are as fast in a grid of vectors, which gathers them in registers.
/// (u8, f16 and f32 of 16 channels .85, .93 and 1.00, and .85, .83 and .98 in boxes.)
constexpr std::int64_t kFewestTurnedColumns = 33;
/// So few are as fast there, too, of an input that has its channels together. (f16 of 3 channels .84, in boxes .73; of
/// 4 .63 both.)
constexpr std::int64_t kFewestAcross = 4;
enum VariableOrder { kRows = 850, kSlices = 854, kColumns = 858, kFirst = 870, kLast = 880 };  // below those of a grid

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
    if (is_turned())
      choose_turned_steps();
    else
      choose_step();
    add_guards();
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

  /// Where a condition holds is a range of columns in each row, or all of it.
  [[nodiscard]] bool takes_guard(PredicateId guard) const {
    return std::ranges::all_of(kernel_.graph.conditions_of(guard), [&](ConditionId id) {
      return box_condition(kernel_, boxes_, kernel_.graph.condition(id)).has_value();
    });
  }
  [[nodiscard]] bool moves_with_columns(const LoadSource& source) const {
    return std::ranges::any_of(source.coordinates, [&](Expr c) {
      return mentions(c, column_) || mentions(c, kernel_.coordinate(boxes_.column_axis));
    });
  }

  // --- axes ---------------------------------------------------------------------------------------------------------

  /// The axis of the output that a load goes along where it is contiguous; the last where it does not move with the
  /// columns. Nothing where it goes along several, or not one element for one.
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

  /// All loads that move with the columns are contiguous along one axis. Where that is the last one, all others number
  /// rows. Else the rows are those of the last but one: it is that axis, and the slices go along the one before, or the
  /// slices go along that axis. Columns of two axes have that axis as their first, and the rows go along the one
  /// before. Or the slices go along the last but one, which is contiguous in the input, and no axis numbers rows.
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
    if (options_.blocks->boxes == BoxKind::slices) {
      boxes_.row_axis = boxes_.column_axis;
      boxes_.slice = last_outer;
      across_ = kBoxSlice;
      return across == last_outer && kernel_.rank() <= kMostSlicedRank;
    }
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
    if (across_ == kBoxSlice || has_two_axes())
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

  /// Each axis of the tensor goes with one of the output's, one coordinate for one.
  [[nodiscard]] std::optional<BoxStage> make_turned_stage(const LoadSource& source, const ir::Layout& layout) {
    const int size = ir::byte_size(kernel_.program->value(source.tensor).dtype);
    if (size > 4) return std::nullopt;
    BoxStage stage{.tensor = source.tensor, .layout = source.layout, .from = {}, .last = {}};
    BoxTurn turn{.layout = turned_layout(kernel_, boxes_, *across_, 4 / size), .across = *across_, .lanes = 4 / size};
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
    stage.turn = std::move(turn);
    return stage;
  }

  /// The rows of a box read rows of the tensor in the same order: each axis of the tensor goes with one of the
  /// output's. Those before the last two are read as they are; of the last but one, that goes with the rows, some
  /// coordinates may be none of the tensor's, before its first or after its last.
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

  // --- the rule -----------------------------------------------------------------------------------------------------

  /// Elements of a box of so many bytes, or of fewer, so that there are many.
  [[nodiscard]] Expr room(std::int64_t bytes) {
    const Expr elements = exprs_.mul(schedule_.rows, schedule_.columns);
    const Expr each = exprs_.floordiv(elements, exprs_.constant(kManyBoxes));
    return exprs_.max(exprs_.min(each, exprs_.constant(bytes / widest_)), exprs_.constant(kFewestBoxBytes / widest_));
  }

  /// Rows of kBoxBytes, of the output or from a row of an input to the next, if they are longer; of them a multiple
  /// that has whole vectors, so that boxes begin at one where the output does.
  void choose_step() {
    Expr row = exprs_.max(schedule_.columns, one_);
    for (const BoxStage& stage : boxes_.stages) {
      const ir::Layout& layout = kernel_.graph.layout(stage.layout);
      row = exprs_.max(row, layout.strides()[layout.strides().size() - 2]);
    }
    const Expr most = exprs_.max(exprs_.floordiv(room(kBoxBytes), row), one_);
    Expr common = one_;  // the largest power of two of the elements of a row and of a vector
    for (int power = 2; power <= boxes_.lanes; power *= 2) {
      const Expr odd = exprs_.min(exprs_.mod(schedule_.columns, exprs_.constant(power)), one_);
      common = exprs_.add(common, exprs_.mul(exprs_.constant(power / 2), exprs_.sub(one_, odd)));
    }
    const Expr multiple = exprs_.floordiv(exprs_.constant(boxes_.lanes), common);
    const Expr whole = exprs_.sub(most, exprs_.mod(most, multiple));
    boxes_.rows.launched = exprs_.max(exprs_.max(whole, exprs_.min(most, exprs_.sub(multiple, one_))), one_);
  }

  /// About `most` of so many, the same for all boxes but the last: a multiple of some, if there are several boxes.
  [[nodiscard]] Expr even_part(Expr total, Expr most, int multiple = 1) {
    const Expr some = exprs_.max(total, one_);
    const Expr part = exprs_.ceildiv(some, exprs_.ceildiv(some, exprs_.max(exprs_.min(most, some), one_)));
    const Expr unit = exprs_.constant(multiple);
    const Expr whole = multiple == 1 ? part : exprs_.min(exprs_.mul(exprs_.ceildiv(part, unit), unit), some);
    return exprs_.max(whole, one_);
  }

  /// As long together across as memory likes it, and then as long along the columns and rows as there is room for.
  void choose_turned_steps() {
    int size = 1;
    for (const BoxStage& stage : boxes_.stages)
      size = std::max(size, ir::byte_size(kernel_.program->value(stage.tensor).dtype));
    const Expr most = room(across_ == kBoxSlice ? kSlicedBoxBytes : kBoxBytes);
    const Expr columns = exprs_.max(schedule_.columns, one_);
    const Expr rows = exprs_.max(boxes_.rows.total, one_);
    if (has_two_axes()) {
      const Expr fit = exprs_.max(exprs_.floordiv(most, columns), one_);
      boxes_.columns->launched = even_part(boxes_.columns->total, fit, boxes_.lanes);
      boxes_.rows.launched = even_part(rows, exprs_.floordiv(fit, exprs_.max(boxes_.columns->total, one_)));
      return;
    }
    if (across_ == kBoxRow) {
      const Expr fit = exprs_.max(exprs_.floordiv(most, columns), exprs_.constant(kFewestBytesAcross / size));
      boxes_.rows.launched = even_part(rows, fit);
      if (boxes_.slices) boxes_.slices->launched = even_part(boxes_.slices->total, exprs_.floordiv(fit, rows));
      return;
    }
    const Expr across = exprs_.constant((size == 1 ? kBytesAcross : kWideBytesAcross) / size);
    const Expr slices = exprs_.max(across, exprs_.floordiv(most, exprs_.mul(rows, columns)));
    boxes_.slices->launched = even_part(boxes_.slices->total, slices, kVectorBytes / size);
    const Expr left = exprs_.max(exprs_.floordiv(most, boxes_.slices->launched), one_);
    boxes_.rows.launched = even_part(rows, exprs_.floordiv(left, columns));
    boxes_.columns->launched = even_part(columns, left, boxes_.lanes);
  }

  void at_most(Expr e, std::int64_t limit) {
    schedule_.serves.push_back({abi::Assumption::boxes, {e, ir::Comparison::le, exprs_.constant(limit)}});
  }

  void add_guards() {
    const Expr row_bytes = exprs_.mul(schedule_.columns, exprs_.constant(widest_));
    at_most(at_launch(exprs_, boxes_, boxes_.shared_bytes), kMostSharedBytes);
    const Expr fewest = exprs_.constant(is_turned() ? kFewestTurnedBytes : kFewestBytesOfShortest);
    at_most(exprs_.sub(fewest, exprs_.mul(schedule_.rows, row_bytes)), 0);
    if (is_turned())
      add_turned_guards(row_bytes);
    else
      add_row_guards(row_bytes);
  }

  void add_row_guards(Expr row_bytes) {
    at_most(row_bytes, widest_ < 4 ? kLongestRow : kLongestWideRow);
    const Expr shortest = exprs_.constant(widest_ < 4 ? kShortestRow : 0);
    const Expr bytes = exprs_.mul(schedule_.rows, row_bytes);
    // Holds for the shortest rows, and for large outputs.
    at_most(exprs_.min(exprs_.sub(row_bytes, shortest), exprs_.sub(exprs_.constant(kFewestBytes), bytes)), 0);
  }

  void add_turned_guards(Expr row_bytes) {
    const auto is_no_multiple = [&](Expr e, std::int64_t unit) {
      return exprs_.min(exprs_.mod(e, exprs_.constant(unit)), one_);
    };
    if (has_two_axes()) {
      const Expr no_vectors = is_no_multiple(row_bytes, kVectorBytes);
      const std::int64_t more = kLongestJoinedRow - kVectorBytes + 1;
      at_most(exprs_.sub(row_bytes, exprs_.mul(exprs_.constant(more), no_vectors)), kLongestJoinedRow - more);
    } else if (across_ == kBoxRow) {
      at_most(row_bytes, kLongestTurnedRow);
      at_most(exprs_.sub(exprs_.constant(kVectorBytes), row_bytes), 0);
      const Expr fewest = exprs_.constant(kFewestTurnedColumns);
      const Expr no_vectors = is_no_multiple(schedule_.columns, boxes_.lanes);
      at_most(exprs_.sub(exprs_.sub(fewest, schedule_.columns), exprs_.mul(fewest, no_vectors)), 0);
      const Expr wide = exprs_.sub(row_bytes, exprs_.constant(kTiledRow - 1));
      at_most(exprs_.min(wide, exprs_.sub(boxes_.rows.total, exprs_.constant(kTiledAcross - 1))), 0);
    } else {
      at_most(exprs_.sub(exprs_.constant(kFewestAcross), boxes_.slices->total), 0);
      if (options_.blocks->boxes == BoxKind::slices) {
        at_most(exprs_.sub(exprs_.constant(kLongestTurnedRow + 1), row_bytes), 0);
        at_most(exprs_.mul(boxes_.slices->total, exprs_.constant(widest_)), kTiledRow - 1);
      }
    }
    // Several rows follow each other where they are whole.
    if (boxes_.columns) at_most(box_rows_apart(kernel_, boxes_), 0);
  }

  Schedule& schedule_;
  const ScheduleOptions& options_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr zero_, one_, column_;
  int widest_ = 1;
  std::optional<BoxAxis> across_;  // what is contiguous in turned stages
  Boxes boxes_;
};

}  // namespace

bool cover_by_boxes(Schedule& schedule, const ScheduleOptions& options) { return BoxMaker(schedule, options).make(); }

}  // namespace padlock::compiler
