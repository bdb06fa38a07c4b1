#include <algorithm>
#include <numeric>
#include <vector>

#include "compiler/schedule/cases/row_recurrence.h"
#include "compiler/schedule/host/covers.h"

namespace padlock::compiler {
namespace {

constexpr int kTurnedBytes = 64;  // bytes of an input's row: a cache line
// Fewest rows that boxes of few rows have room for: boxes of fewer would be as much code, and are rare.
constexpr int kFewestRows = 4;
constexpr int kMostFewLanes = 32;  // lanes of their vectors: images of few channels may be narrow
constexpr int kMostColumns = 8;    // of interleaved rows: more columns fill a vector's lanes, or nearly
// A box's code repeats the body for each of its rows.
constexpr std::size_t kMostOperations = 8;

/// Makes the boxes of one body.
class TurnMaker {
 public:
  TurnMaker(Schedule& schedule, const ScheduleOptions& options, std::size_t body)
      : schedule_(schedule), options_(options), index_(body), body_(schedule.bodies[body]) {}

  void make() {
    for (std::size_t i = 0; i < body_.loads.size(); ++i) {
      if (body_.loads[i].kind != LoadKind::strided) continue;
      if (!is_adjacent_in_rows(i)) return;
      loads_.push_back(static_cast<int>(i));
      narrowest_ = std::min(narrowest_, ir::byte_size(body_.loads[i].dtype));
    }
    if (loads_.empty() || body_.uses_rows || body_.is_pointwise || !is_small()) return;
    const int widest = std::min(options_.vector_bytes, options_.permutes.blocks);
    // A box has at least one block of each load.
    const auto lanes_of = [&](int bytes) {
      return std::max(bytes / widest_bytes(body_, /*for_threads=*/false), kBlockBytes / narrowest_);
    };
    const int block = kBlockBytes / narrowest_;
    const int few_lanes = std::min(lanes_of(widest), kMostFewLanes);
    const bool may_be_few = loads_.size() == 1 && may_be_small(load_step());
    if (may_be_few && takes_bytes())
      for (int rows = kFewestRows; rows < block; rows *= 2)
        body_.turns.push_back(turn_of(rows, few_lanes, /*few_rows=*/true));
    body_.turns.push_back(turn_of(block, lanes_of(widest), /*few_rows=*/false));
    if (may_be_few && block == kFewestRows) body_.turns.push_back(turn_of(block, few_lanes, /*few_rows=*/true));
    for (int bytes = widest / 2; bytes >= kBlockBytes; bytes /= 2) {
      const bool is_worth_it = bytes == kBlockBytes || block <= kFewestRows;  // others are long code
      if (is_worth_it && lanes_of(bytes) < body_.turns.back().lanes)
        body_.turns.push_back(turn_of(block, lanes_of(bytes), /*few_rows=*/false));
    }
    make_interleaves(std::min(widest / widest_bytes(body_, /*for_threads=*/false), kMostFewLanes));
  }

 private:
  [[nodiscard]] bool is_small() const {
    return operation_count(body_) <= kMostOperations && !computes_activation(body_);
  }

  [[nodiscard]] bool is_adjacent_in_rows(std::size_t load) const { return has_step(load, 1); }
  [[nodiscard]] bool is_same_in_rows(std::size_t load) const { return has_step(load, 0); }
  [[nodiscard]] bool has_step(std::size_t load, int from_row_to_row) const {
    return std::ranges::all_of(schedule_.calls(), [&](const SegmentCall& call) {
      if (static_cast<std::size_t>(call.body) != index_) return true;
      const Expr step = call.sources[load].step;
      return step.valid() && step.is_constant(from_row_to_row);
    });
  }

  [[nodiscard]] Expr load_step() const { return body_.loads[static_cast<std::size_t>(loads_.front())].step; }
  /// Returns whether a size may be small: a product of extents counts as large.
  [[nodiscard]] static bool may_be_small(Expr size) { return size.kind() != ir::ExprKind::product; }
  /// Returns whether one instruction permutes any bytes of a block, so that a block may have the rows of several
  /// columns.
  [[nodiscard]] bool takes_bytes() const { return options_.permutes.bytes_of(ir::DType::u8) > 0; }

  [[nodiscard]] Turn turn_of(int rows, int lanes, bool few_rows) const {
    ir::ExprContext& exprs = schedule_.exprs();
    const RunVariables run(exprs);
    Turn turn{.rows = rows,
              .lanes = lanes,
              .line = kTurnedBytes / narrowest_,
              .along_rows = whole_vectors(exprs, rows),
              .along_columns = whole_vectors(exprs, lanes),
              .few_rows = few_rows,
              .loads = {}};
    for (const int index : loads_) {
      const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
      turn.loads.push_back(turned(index, few_rows ? rows : kBlockBytes / ir::byte_size(load.dtype), lanes));
    }
    if (!few_rows) return turn;
    turn.along_rows = make_loop_strategies(exprs, {.lanes = rows, .masked = true}).front();
    turn.along_rows.entry_conditions.push_back(exprs.sub(exprs.add(run.begin, exprs.constant(rows)), run.end));
    const Expr step = load_step();
    turn.left_out = kBlockBytes / narrowest_ - turn.loads.front().columns;
    turn.tests.push_back(exprs.sub(step, exprs.constant(1)));
    if (turn.loads.front().columns > 1) turn.tests.push_back(exprs.sub(exprs.constant(rows), step));
    return turn;
  }

  [[nodiscard]] TurnedLoad turned(int load, int rows, int lanes) const {
    ir::ExprContext& exprs = schedule_.exprs();
    const int size = ir::byte_size(body_.loads[static_cast<std::size_t>(load)].dtype);
    const int block = kBlockBytes / size;
    TurnedLoad made{.load = load, .rows = rows, .columns = block / rows};
    made.last_block = exprs.sub(TurnVariables(exprs).storage, exprs.constant(block));
    for (int step = 1; made.columns > 1 && step <= rows; ++step) {
      std::vector<int>& bytes = made.grouped.emplace_back();
      for (int byte = 0; byte < kBlockBytes; ++byte)
        bytes.push_back((byte / size % made.columns * step + byte / size / made.columns) * size + byte % size);
    }
    std::vector<int> vectors(static_cast<std::size_t>(rows));
    std::iota(vectors.begin(), vectors.end(), 0);
    add_block_transpose(made.shuffles, std::move(vectors), lanes, block, made.columns);
    return made;
  }

  void make_interleaves(int lanes) {
    const Kernel& kernel = schedule_.kernel;
    const int size = ir::byte_size(kernel.result(0).dtype);
    bool fits = takes_bytes() && schedule_.row_axis + 2 == kernel.rank() && may_be_small(schedule_.columns);
    for (std::size_t i = 0; i < kernel.results.size(); ++i) fits &= ir::byte_size(kernel.result(i).dtype) == size;
    for (std::size_t i = 0; i < body_.loads.size(); ++i) fits &= is_adjacent_in_rows(i) || is_same_in_rows(i);
    const ir::Range known = schedule_.columns.range();
    // A row of few columns may be wider than a block.
    const auto is_narrow = [&](int columns) { return columns <= kFewestRows || columns * size <= kBlockBytes; };
    for (int columns = known.hi <= 2 ? 2 : kFewestRows;
         fits && is_narrow(columns) && columns <= kMostColumns && known.hi > columns / 2; columns *= 2)
      if (known.lo <= columns) body_.interleaves.push_back(interleave_of(columns, lanes, size));
  }

  [[nodiscard]] Interleave interleave_of(int columns, int lanes, int size) const {
    ir::ExprContext& exprs = schedule_.exprs();
    const int block = std::max(kBlockBytes / size, columns);
    lanes = std::max(lanes, block);
    Interleave made{.columns = columns,
                    .lanes = lanes,
                    .block_rows = block / columns,
                    .along_rows = whole_vectors(exprs, lanes),
                    .tests = {exprs.sub(exprs.constant(columns), schedule_.columns),
                              exprs.sub(schedule_.columns, exprs.constant(1))},
                    .loads = {},
                    .shuffles = {}};
    for (std::size_t i = 0; i < body_.loads.size(); ++i)
      if (is_adjacent_in_rows(i)) made.loads.push_back(static_cast<int>(i));
    for (int few = 1; few <= columns; ++few) {
      made.left_out.push_back((block + few - 1) / few - made.block_rows);
      if (made.block_rows == 1) continue;
      std::vector<int>& bytes = made.grouped.emplace_back();
      for (int byte = 0; byte < kBlockBytes; ++byte) {
        const int row = std::min(byte / size / few, made.block_rows - 1);  // bytes past the rows may be anything
        bytes.push_back((byte / size % few * made.block_rows + row) * size + byte % size);
      }
    }
    std::vector<int> vectors(static_cast<std::size_t>(columns));
    std::iota(vectors.begin(), vectors.end(), 0);
    add_block_transpose(made.shuffles, std::move(vectors), lanes, block, made.block_rows);
    return made;
  }

  Schedule& schedule_;
  const ScheduleOptions& options_;
  std::size_t index_;
  Body& body_;
  std::vector<int> loads_;
  int narrowest_ = kBlockBytes;  // bytes of their elements
};

}  // namespace

void choose_row_axis(Schedule& schedule) {
  std::vector<int> loads(static_cast<std::size_t>(schedule.kernel.rank() - 1));  // number of loads that are adjacent
                                                                                 // along each outer axis
  for (const SegmentCall& call : schedule.calls())
    for (std::size_t i = 0; i < call.sources.size(); ++i) {
      if (schedule.body_of(call).loads[i].kind != LoadKind::strided) continue;
      for (std::size_t axis = 0; axis < loads.size(); ++axis) {
        const Expr row = schedule.kernel.coordinate(static_cast<int>(axis));
        const auto recurrence = recurrence_in(schedule.exprs(), call.sources[i].base, row);
        if (recurrence && recurrence->step.is_constant(1)) ++loads[axis];
      }
    }
  for (std::size_t axis = loads.size(); axis-- > 0;)
    if (loads[axis] > loads[static_cast<std::size_t>(schedule.row_axis)]) schedule.row_axis = static_cast<int>(axis);
}

void make_turns(Schedule& schedule, const ScheduleOptions& options) {
  if (options.permutes.blocks == 0 || schedule.kernel.rank() == 1) return;
  for (std::size_t body = 0; body < schedule.bodies.size(); ++body) TurnMaker(schedule, options, body).make();
}

}  // namespace padlock::compiler
