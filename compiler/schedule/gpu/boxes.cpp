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
constexpr std::int64_t kMostSharedBytes = 40 << 10;
/// Bytes of the barrier that shared memory begins with.
constexpr std::int64_t kBarrierBytes = 16;
/// Longer rows are no slower in a grid of vectors, most of which they have whole: of elements of less than 4 bytes, and
/// of others.
constexpr std::int64_t kLongestRow = 96, kLongestWideRow = 128;
/// Outputs that a cache holds are slower in boxes, which wait for all of a run before the first store, unless hardly a
/// vector lies in one row: an H100 takes from 24 MiB on 1.0 to 3.3 times as long without them, of less 0.6 to 2.2
/// times.
constexpr std::int64_t kFewestBytes = 24 << 20, kFewestBytesOfShortest = 1 << 20, kShortestRow = 48;
enum VariableOrder { kStep = 860, kBox, kFirst = 870, kLast = 880 };  // below those of a grid

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
    if (!takes_nodes() ||
        !std::ranges::all_of(body().loads, [&](const BodyLoad& load) { return takes_guard(load.guard); }))
      return false;
    add_rows();
    for (std::size_t i = 0; i < body().loads.size(); ++i)
      if (!add_load(body().loads[i], sources()[i])) return false;
    if (boxes_.stages.empty()) return false;
    place_stages();
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
      const Condition& condition = kernel_.graph.condition(id);
      const auto form = linear_in(exprs_, condition.expr, column_);
      return form && (form->slope == 0 ||
                      ((form->slope == 1 || form->slope == -1) && condition.kind == Condition::Kind::nonnegative));
    });
  }

  void add_rows() {
    boxes_.step = exprs_.variable("step", kStep);
    boxes_.box = exprs_.variable("box", kBox);
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) {
      boxes_.first.push_back(exprs_.variable(fmt::format("first{}", axis), kFirst + axis));
      boxes_.last.push_back(exprs_.variable(fmt::format("last{}", axis), kLast + axis));
    }
    boxes_.first_row = exprs_.mul(boxes_.box, boxes_.step);
    boxes_.rows = exprs_.min(boxes_.step, exprs_.sub(schedule_.rows, boxes_.first_row));
    boxes_.boxes = exprs_.ceildiv(schedule_.rows, boxes_.step);
  }

  // --- stages -------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool add_load(const BodyLoad& load, const LoadSource& source) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const auto form = linear_in(exprs_, layout.offset_of(exprs_, source.coordinates), column_);
    if (!form || (form->slope != 0 && form->slope != 1) || load.scope >= 0 ||
        boxes_.lanes * ir::byte_size(load.dtype) < 4)
      return false;
    boxes_.stage_of.push_back(-1);
    if (form->slope == 0) return true;
    boxes_.stage_of.back() = static_cast<int>(boxes_.stages.size());
    const auto stage = make_stage(source, layout);
    if (stage) boxes_.stages.push_back(*stage);
    return stage.has_value();
  }

  /// The rows of a box read rows of the tensor in the same order: each axis of the tensor goes with one of the
  /// output's. Those before the last two are read as they are; of the last but one, that goes with the rows, some
  /// coordinates may be none of the tensor's, before its first or after its last.
  [[nodiscard]] std::optional<BoxStage> make_stage(const LoadSource& source, const ir::Layout& layout) {
    BoxStage stage{.tensor = source.tensor,
                   .layout = source.layout,
                   .from = {},
                   .last = {},
                   .first = {},
                   .elements = {},
                   .columns = {},
                   .capacity = {},
                   .place = {},
                   .bytes = {}};
    const auto rank = static_cast<int>(source.coordinates.size());
    if (rank != kernel_.rank()) return std::nullopt;
    for (int axis = 0; axis < rank; ++axis) {
      const auto form = affine_in(exprs_, source.coordinates[static_cast<std::size_t>(axis)], kernel_.coordinate(axis));
      if (!form || form->slope != 1 || (axis + 1 < rank && !layout.next_axis_continues(exprs_, axis)))
        return std::nullopt;
      const Expr extent = layout.extents()[static_cast<std::size_t>(axis)];
      if (axis + 2 >= rank) {
        const bool is_column = axis + 1 == rank;
        const RunEnds ends = is_column
                                 ? run_ends(exprs_, zero_, exprs_.sub(schedule_.columns, one_), form->rest, extent)
                                 : run_ends(exprs_, boxes_.first.back(), boxes_.last.back(), form->rest, extent);
        stage.from.push_back(ends.from);
        stage.last.push_back(ends.last);
      } else {
        if (!form->rest.is_constant(0) || extent != kernel_.extents[static_cast<std::size_t>(axis)])
          return std::nullopt;
        stage.from.push_back(boxes_.first[static_cast<std::size_t>(axis)]);
        stage.last.push_back(boxes_.last[static_cast<std::size_t>(axis)]);
      }
    }
    stage.columns = exprs_.sub(exprs_.add(stage.last.back(), one_), stage.from.back());
    stage.first = layout.offset_of(exprs_, stage.from);
    stage.elements = exprs_.add(exprs_.sub(layout.offset_of(exprs_, stage.last), stage.first), one_);
    const Expr row = layout.strides()[static_cast<std::size_t>(rank - 2)];
    stage.capacity = exprs_.add(
        exprs_.mul(exprs_.sub(box_stage_rows(exprs_, kernel_, boxes_, source, layout), one_), row), stage.columns);
    return stage;
  }

  /// The elements of a stage begin as far past a multiple of a vector as they do in the tensor.
  void place_stages() {
    boxes_.shared_bytes = exprs_.constant(kBarrierBytes);
    for (BoxStage& stage : boxes_.stages) {
      const std::int64_t size = ir::byte_size(kernel_.program->value(stage.tensor).dtype);
      const Expr bytes = exprs_.mul(exprs_.max(stage.capacity, zero_), exprs_.constant(size));
      const Expr vector = exprs_.constant(kStageVectorBytes);
      stage.place = boxes_.shared_bytes;
      stage.bytes = exprs_.mul(
          exprs_.add(exprs_.ceildiv(bytes, vector), exprs_.constant(1 + 2 * kStageMargin / kStageVectorBytes)), vector);
      boxes_.shared_bytes = exprs_.add(boxes_.shared_bytes, stage.bytes);
    }
  }

  // --- the rule -----------------------------------------------------------------------------------------------------

  /// Rows of kBoxBytes, of the output or from a row of an input to the next, if they are longer; of them a multiple
  /// that has whole vectors, so that boxes begin at one where the output does.
  void choose_step() {
    Expr row = exprs_.max(schedule_.columns, one_);
    for (const BoxStage& stage : boxes_.stages) {
      const ir::Layout& layout = kernel_.graph.layout(stage.layout);
      row = exprs_.max(row, layout.strides()[layout.strides().size() - 2]);
    }
    const Expr most = exprs_.max(exprs_.floordiv(exprs_.constant(kBoxBytes / widest_), row), one_);
    Expr common = one_;  // the largest power of two of the elements of a row and of a vector
    for (int power = 2; power <= boxes_.lanes; power *= 2) {
      const Expr odd = exprs_.min(exprs_.mod(schedule_.columns, exprs_.constant(power)), one_);
      common = exprs_.add(common, exprs_.mul(exprs_.constant(power / 2), exprs_.sub(one_, odd)));
    }
    const Expr multiple = exprs_.floordiv(exprs_.constant(boxes_.lanes), common);
    const Expr whole = exprs_.sub(most, exprs_.mod(most, multiple));
    boxes_.launched = exprs_.max(exprs_.max(whole, exprs_.min(most, exprs_.sub(multiple, one_))), one_);
  }

  void add_guards() {
    const auto most = [&](Expr e, std::int64_t limit) {
      schedule_.serves.push_back({abi::Assumption::boxes, {e, ir::Comparison::le, exprs_.constant(limit)}});
    };
    const Expr row_bytes = exprs_.mul(schedule_.columns, exprs_.constant(widest_));
    most(row_bytes, widest_ < 4 ? kLongestRow : kLongestWideRow);
    most(at_launch(exprs_, boxes_, boxes_.shared_bytes), kMostSharedBytes);
    const Expr bytes = exprs_.mul(schedule_.rows, row_bytes);
    const Expr shortest = exprs_.constant(widest_ < 4 ? kShortestRow : 0);
    // Holds for the shortest rows, and for large outputs.
    most(exprs_.min(exprs_.sub(row_bytes, shortest), exprs_.sub(exprs_.constant(kFewestBytes), bytes)), 0);
    most(exprs_.sub(exprs_.constant(kFewestBytesOfShortest), bytes), 0);
  }

  Schedule& schedule_;
  const ScheduleOptions& options_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr zero_, one_, column_;
  int widest_ = 1;
  Boxes boxes_;
};

}  // namespace

bool cover_by_boxes(Schedule& schedule, const ScheduleOptions& options) { return BoxMaker(schedule, options).make(); }

}  // namespace padlock::compiler
