#include "compiler/schedule/model/row_chunks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "compiler/schedule/cases/row_recurrence.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/host/covers.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

constexpr std::size_t kMaxLoads = 4;
constexpr int kMaxAxes = 3;
// Bytes of the longest row that shares a chunk: a longer row fills vectors by itself.
constexpr int kLongestBytes = 128;
/// Returns the bytes of the longest plane: the wider the target's permuted vectors, the cheaper a plan is per byte.
constexpr int longest_plane_bytes(int vector) { return 64 + 2 * vector; }
// Bytes of short rows that take as long one by one as the plan of a chunk takes.
constexpr std::int64_t kLeastBytes = 4 << 10;
// Most operations of a chunk: beyond them it is bound by its operations, and other strategies are as fast.
constexpr std::size_t kMaxWork = 8;

/// Makes the row chunks whose units have this many axes.
class RowChunkMaker {
 public:
  RowChunkMaker(Schedule& schedule, const ScheduleOptions& options, int axes)
      : kernel_(schedule.kernel), options_(options), exprs_(schedule.exprs()), made_() {
    made_.axes = axes;
  }

  std::optional<RowChunks> make() {
    if (kernel_.reads_by_data()) return std::nullopt;  // a plan depends on sizes alone
    std::tie(made_.body, made_.sources) = make_body(kernel_, roots_where_alike(), /*vector_sums=*/false);
    made_.alike = units_alike();
    // Without loads there is only fill, and not worth a plan.
    const Body& body = made_.body;
    if (body.loads.empty() || body.loads.size() > kMaxLoads || operation_count(body) > kMaxWork) return std::nullopt;
    if (reads_indices(body) || !are_units_alike()) return std::nullopt;
    const int lanes = lanes_of(body);
    for (std::size_t i = 0; i < made_.sources.size(); ++i)
      if (!is_near(made_.sources[i], lanes) || !split_offset(i)) return std::nullopt;
    const int bytes = made_.axes == 1 ? kLongestBytes : longest_plane_bytes(lanes * result_bytes());
    const int longest = bytes / result_bytes();
    if (lanes < 2 || kernel_.extents.back().range().lo > longest) return std::nullopt;
    made_.body.lanes = lanes;
    made_.loop = make_row_chunk_loop(exprs_, lanes);
    made_.loop.joined = joined_vectors(lanes);
    made_.loop.longest_row = longest;
    made_.loop.least_bytes = kLeastBytes;
    made_.loop.streams = options_.store != StoreKind::plain && operation_count(body) <= kMostStreamedOperations;
    choose_room(kernel_, made_);
    if (made_.loop.vectors.is_constant(0)) return std::nullopt;
    return std::move(made_);
  }

 private:
  /// The coordinates in an expression: those of other units, of the unit's rows, and of columns.
  struct Mentions {
    bool others = false, rows = false, column = false;
  };
  [[nodiscard]] Mentions mentions_of(Expr e) const {
    Mentions found;
    for (int axis = 0; axis < kernel_.rank(); ++axis) {
      if (!mentions(e, kernel_.coordinate(axis))) continue;
      (axis <= made_.unit_axis(kernel_) ? found.others : axis + 1 < kernel_.rank() ? found.rows : found.column) = true;
    }
    return found;
  }

  /// Returns the kernel's roots in units for which the conditions on other coordinates alone hold.
  std::vector<NodeId> roots_where_alike() {
    std::vector<ConditionId> holds;
    for (const NodeId id : users_first(kernel_.graph, kernel_.roots))
      std::ranges::copy_if(kernel_.graph.conditions_of(kernel_.graph.node(id).guard), std::back_inserter(holds),
                           [&](ConditionId condition) { return goes_on(condition); });
    if (holds.empty()) return kernel_.roots;
    made_.holds = kernel_.graph.conjunction(holds);
    return roots_where(kernel_, holds);
  }
  /// Returns whether a condition is on other units' coordinates alone, and goes on to hold for an even number of units.
  [[nodiscard]] bool goes_on(ConditionId id) const {
    const Condition& condition = kernel_.graph.condition(id);
    const Mentions found = mentions_of(condition.expr);
    return found.others && !found.rows && !found.column && condition.kind == Condition::Kind::nonnegative &&
           step_of(condition.expr).has_value();
  }
  /// Returns by how much an expression grows from unit to unit, if it is one constant everywhere.
  [[nodiscard]] std::optional<Int128> step_of(Expr e) const {
    const auto recurrence = recurrence_in(exprs_, e, kernel_.coordinate(made_.unit_axis(kernel_)));
    if (!recurrence || !recurrence->is_even() || !recurrence->step.is_constant()) return std::nullopt;
    return recurrence->step.constant();
  }
  [[nodiscard]] Expr units_alike() const {
    const int axis = made_.unit_axis(kernel_);
    Expr units = exprs_.sub(kernel_.extent(axis), kernel_.coordinate(axis));
    for (const ConditionId id : kernel_.graph.conditions_of(made_.holds)) {
      const Expr condition = kernel_.graph.condition(id).expr;
      const Int128 step = *step_of(condition);
      if (step >= 0) continue;
      const Expr more = exprs_.floordiv(condition, exprs_.constant(-step));
      units = exprs_.min(units, exprs_.add(more, exprs_.constant(1)));
    }
    return units;
  }

  [[nodiscard]] bool are_units_alike() const {
    const auto alike = [&](PredicateId predicate) {
      return std::ranges::all_of(kernel_.graph.conditions_of(predicate), [&](ConditionId id) {
        const Mentions found = mentions_of(kernel_.graph.condition(id).expr);
        return !found.others && !(found.rows && found.column);
      });
    };
    return std::ranges::all_of(made_.body.nodes, [&](const BodyNode& node) { return alike(node.guard); }) &&
           std::ranges::all_of(made_.body.loads, [&](const BodyLoad& load) { return alike(load.guard); });
  }

  /// Returns whether neighbouring columns of a load may lie in one window.
  [[nodiscard]] bool is_near(const LoadSource& source, int lanes) const {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      if (!mentions(source.coordinates[axis], kernel_.column())) continue;
      const Expr step = layout.step_of(exprs_, static_cast<int>(axis), 1);
      if (!step.is_constant() || step.constant() >= lanes || step.constant() <= -lanes) return false;
    }
    return true;
  }

  /// Splits the offset of a load into the terms of other units, of the unit's rows, and of columns.
  bool split_offset(std::size_t index) {
    BodyLoad& load = made_.body.loads[index];
    LoadSource& source = made_.sources[index];
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    const Expr offset = layout.offset_of(exprs_, source.coordinates);
    UnitOffset within{.row = exprs_.constant(0), .column = offset};
    source.base = exprs_.constant(0);
    const bool is_sum = offset.kind() == ir::ExprKind::sum;
    for (std::size_t i = 0; i < (is_sum ? offset.operands().size() : 1); ++i) {
      const Expr part = is_sum ? offset.operands()[i] : offset;
      const Mentions found = mentions_of(part);
      if (int{found.others} + int{found.rows} + int{found.column} > 1) return false;
      if (!found.others && !found.rows) continue;
      const Expr term = is_sum ? exprs_.mul(exprs_.constant(offset.coefficients()[i]), part) : part;
      Expr& to = found.others ? source.base : within.row;
      to = exprs_.add(to, term);
      within.column = exprs_.sub(within.column, term);
    }
    load.kind = LoadKind::general;
    load.step = {};
    load.offset = exprs_.add(within.row, within.column);
    made_.offsets.push_back(within);
    source.step = exprs_.constant(0);
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
      const std::optional<Int128> step = step_of(source.coordinates[axis]);
      if (!step) return false;
      source.step = exprs_.add(source.step, layout.step_of(exprs_, static_cast<int>(axis), *step));
    }
    source.rows = {};
    return true;
  }

  [[nodiscard]] int result_bytes() const {
    int widest = 1;
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      widest = std::max(widest, ir::byte_size(kernel_.result(i).dtype));
    return widest;
  }

  [[nodiscard]] int lanes_of(const Body& body) const {
    int lanes = options_.vector_bytes / widest_bytes(body, /*for_threads=*/false);
    for (const BodyLoad& load : body.loads)
      lanes = std::min(lanes, options_.permutes.bytes_of(load.dtype) / ir::byte_size(load.dtype));
    return lanes;
  }

  /// Returns how many vectors are permuted as one: several if the target shuffles blocks of wider vectors, the windows
  /// are blocks, and no value is wider than a block.
  [[nodiscard]] int joined_vectors(int lanes) const {
    const auto is_block = [&](const auto& value) { return lanes * ir::byte_size(value.dtype) == kBlockBytes; };
    const auto is_narrow = [&](const auto& value) { return lanes * ir::byte_size(value.dtype) <= kBlockBytes; };
    const int wide = std::min(options_.permutes.blocks, options_.vector_bytes);
    if (wide <= kBlockBytes || !std::ranges::all_of(made_.body.loads, is_block) ||
        !std::ranges::all_of(made_.body.nodes, is_narrow))
      return 1;
    return wide / kBlockBytes;
  }

  Kernel& kernel_;
  const ScheduleOptions& options_;
  ir::ExprContext& exprs_;
  RowChunks made_;
};

/// How much of an output chunks leave to other ways: nothing; some units outside the axis along which units follow
/// each other; some units along it.
enum class Left : std::uint8_t { none, apart, along };

Left left_by(const Kernel& kernel, const RowChunks& chunks) {
  const Expr unit = kernel.coordinate(chunks.unit_axis(kernel));
  const auto is_along = [&](ConditionId id) { return mentions(kernel.graph.condition(id).expr, unit); };
  if (chunks.holds == kAlways) return Left::none;
  return std::ranges::any_of(kernel.graph.conditions_of(chunks.holds), is_along) ? Left::along : Left::apart;
}

/// Returns whether units that have others between them along their axis are worth the code. Rows of two axes are mostly
/// long: a plan for them would take three times as long to compile.
bool pays_along(const Kernel& kernel, const RowChunks& chunks) {
  return kernel.rank() > 2 || kernel.extents.back().range().hi <= chunks.loop.longest_row;
}

}  // namespace

void make_row_chunks(Schedule& schedule, const ScheduleOptions& options) {
  const bool permutes = std::ranges::any_of(options.permutes.bytes, [](int bytes) { return bytes > 0; });
  const int rank = schedule.kernel.rank();
  if (!options.plans || !permutes || !options.split || schedule.row_axis != rank - 2) return;
  std::optional<RowChunks> best;
  for (int axes = 1; axes <= std::min(kMaxAxes, rank - 1); ++axes) {
    std::optional<RowChunks> made = RowChunkMaker(schedule, options, axes).make();
    if (!made) continue;
    const Left left = left_by(schedule.kernel, *made);
    if (left == Left::along && !pays_along(schedule.kernel, *made)) continue;
    // Larger units have more rows between those that are left.
    if (!best || left < left_by(schedule.kernel, *best) || left == Left::along) best = std::move(made);
    if (left == Left::none) break;
  }
  if (best) schedule.cover = HostCover{std::move(best)};
}

}  // namespace padlock::compiler
