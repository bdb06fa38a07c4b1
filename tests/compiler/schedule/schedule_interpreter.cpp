#include "tests/compiler/schedule/schedule_interpreter.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/compiler/schedule/interpreted_loads.h"
#include "tests/compiler/schedule/interpreted_writes.h"
#include "tests/compiler/schedule/interpreter_state.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 22;

class Interpreter {
 public:
  Interpreter(const Schedule& schedule, std::span<const std::int64_t> sizes, const Execution& execution, bool is_grid)
      : schedule_(schedule),
        execution_(execution),
        state_(schedule, sizes, execution),
        values_(state_.values),
        code_(state_.code),
        loads_(state_, execution.misalignment),
        writes_(state_, is_grid),
        run_(state_.exprs) {
    if (schedule.threads) {
      row_tiles_ = schedule.row_bounds();
      column_tiles_ = schedule.column_bounds();
    }
    values_.resize(state_.exprs.symbol_count(), 0);  // those of runs and tiles, too
  }

  Result<Trace> run(std::span<const Task> tasks) {
    check_extents();
    const auto [first, last] = execution_.rows.value_or(std::pair(std::int64_t{0}, state_.row_count));
    Int128 area = Int128{last - first} * state_.columns();
    for (const Task& task : tasks)
      area += Int128{task.row_last - task.row_first} * (task.column_last - task.column_first);
    if (area > kMaxElements) return too_large();
    members_ = schedule_.team();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      first_writer_.block = static_cast<std::int64_t>(i);
      set_columns(task);
      for (std::int64_t row = task.row_first; row < task.row_last; ++row) {
        run_row(row, task);
        if (elements_ > kMaxElements) return too_large();
      }
    }
    writes_.check_tasks(tasks, first, last);
    return finished();
  }

  Result<Trace> run_grid(std::int64_t blocks) {
    check_extents();
    const std::int64_t tiles = code_.exact(schedule_.tiles());
    if (blocks == 0) blocks = tiles;
    const Int128 work = Int128{std::max(tiles, blocks)} * schedule_.threads->teams();
    const Int128 columns = std::max<std::int64_t>(1, state_.columns());
    if (work > kMaxElements || state_.row_count * columns > kMaxElements) return too_large();
    for (std::int64_t block = 0; block < blocks; ++block)
      for (std::int64_t tile = block; tile < tiles; tile += blocks) {
        first_writer_.block = block;
        schedule_.threads->flat ? run_elements(tile) : run_tile(tile);
        if (elements_ > kMaxElements) return too_large();
      }
    writes_.check_all();
    return finished();
  }

 private:
  Result<Trace> finished() {
    Trace& trace = state_.trace;
    if (code_.failure()) trace.events.push_back({ObligationKind::width, {}, {}, *code_.failure()});
    return std::move(trace);
  }

  static std::unexpected<Error> too_large() {
    return resource_exhausted("the interpreter of schedules takes kernels of some millions of elements");
  }

  void check_extents() {
    const ir::Program& program = *state_.kernel.program;
    for (const ir::ValueId id : state_.kernel.results)
      for (const Expr extent : program.value(id).extents())
        if (const std::int64_t n = state_.value_of(extent); n < 0)
          state_.trace.events.push_back({ObligationKind::extent, {}, {}, fmt::format("the extent is {}", n)});
  }

  // --- a grid (compiler/llvm/emit/emit_gpu.cpp)
  // --------------------------------------------------------------------------

  /// The rows of a tile, each by its team.
  void run_tile(std::int64_t tile) {
    const ThreadMap& map = *schedule_.threads;
    const std::int64_t column_tiles = std::max<std::int64_t>(1, code_.exact(column_tiles_->tiles));
    values_[row_tiles_->tile.symbol()] = tile / column_tiles;
    values_[column_tiles_->tile.symbol()] = tile % column_tiles;
    Task task{.row_first = code_.exact(row_tiles_->first),
              .row_last = code_.exact(row_tiles_->last),
              .column_first = code_.exact(column_tiles_->first),
              .column_last = code_.exact(column_tiles_->last)};
    set_columns(task);
    for (int thread = 0; thread < map.threads; thread += map.team) {
      first_writer_.thread = thread;
      members_ = std::min(map.team, map.threads - thread);
      for (std::int64_t row = task.row_first + thread / map.team; row < task.row_last; row += map.teams())
        run_row(row, task);
    }
  }

  /// The elements of a tile, each a thread's.
  void run_elements(std::int64_t tile) {
    const ThreadMap& map = *schedule_.threads;
    values_[row_tiles_->tile.symbol()] = tile;
    const std::int64_t first = code_.exact(row_tiles_->first);
    const std::int64_t last = code_.exact(row_tiles_->last);
    const std::int64_t columns = std::max<std::int64_t>(1, code_.exact(schedule_.columns));
    for (int thread = 0; thread < map.threads; ++thread)
      for (std::int64_t element = first + thread; element < last; element += map.threads) {
        first_writer_.thread = thread;
        const std::int64_t row = floor_div(element, columns);
        const std::int64_t column = floor_mod(element, columns);
        const Task task{.row_first = row, .row_last = row + 1, .column_first = column, .column_last = column + 1};
        set_columns(task);
        run_row(row, task);
      }
  }

  // --- rows ---------------------------------------------------------------------------------------------------------

  void set_columns(const Task& task) {
    values_[run_.column_first.symbol()] = task.column_first;
    values_[run_.column_last.symbol()] = task.column_last;
  }

  void run_row(std::int64_t row, const Task& task) {
    state_.place(row);
    run_case(0, task);
  }

  void run_case(int index, const Task& task) {
    const ScheduledCase& row = schedule_.cases[static_cast<std::size_t>(index)];
    if (row.is_test()) return run_case(state_.holds(row.test) ? row.holds : row.fails, task);
    for (const SegmentCall& call : row.calls) {
      const std::int64_t begin = code_.exact(call.run_begin);
      const std::int64_t end = code_.exact(call.run_end);
      if (begin < end) run_call(call, begin, end, task);
    }
  }

  // --- one run ------------------------------------------------------------------------------------------------------

  void run_call(const SegmentCall& call, std::int64_t begin, std::int64_t end, const Task& task) {
    const Body& body = schedule_.bodies[static_cast<std::size_t>(call.body)];
    values_[run_.begin.symbol()] = begin;
    values_[run_.end.symbol()] = end;
    values_[run_.segment_begin.symbol()] = code_.exact(call.begin);
    values_[run_.segment_end.symbol()] = code_.exact(call.end);
    loads_.enter(call);
    const std::vector<VectorLoop>& loops = chosen(body).loops;
    const bool has_edges = loops.front().cyclic && loops.size() > 1;
    for (std::size_t i = has_edges ? 1 : 0; i < loops.size() - (has_edges ? 1 : 0); ++i) run_loop(body, loops[i], task);
    if (has_edges) run_edges(body, loops.front(), loops.back(), task);
  }

  [[nodiscard]] bool allowed(const Body& body, const LoopStrategy& strategy) {
    if (strategy.kind == LoopStrategyKind::cooperative_realigned && !loads_.are_misaligned(body)) return false;
    const auto hold = [&](const std::vector<Expr>& all) {
      return std::ranges::all_of(all, [&](Expr e) { return code_.exact(e) >= 0; });
    };
    if (strategy.kind == LoopStrategyKind::overlapped && !hold(strategy.invariants)) return false;
    values_[run_.shift.symbol()] = execution_.shift;
    values_[run_.peel.symbol()] = execution_.peel;
    if (!hold(strategy.invariants)) values_[run_.shift.symbol()] = values_[run_.peel.symbol()] = 0;
    return hold(strategy.entry_conditions);
  }

  /// The strategy that was asked for, else the next simpler one whose tests hold.
  const LoopStrategy& chosen(const Body& body) {
    for (std::size_t i = body.strategies.size(); i-- > 1;)
      if (body.strategies[i].kind <= execution_.strategy && allowed(body, body.strategies[i]))
        return body.strategies[i];
    return body.strategies.front();
  }

  void run_loop(const Body& body, const VectorLoop& loop, const Task& task) {
    const std::int64_t from = code_.exact(loop.from);
    if (loop.single_trip) return run_chunk(body, loop, from, task);
    const std::int64_t limit = code_.exact(loop.limit);
    std::int64_t reached = from;
    for (member_ = 0; member_ < members_; ++member_) reached = run_trips(body, loop, from, limit, task);
    member_ = 0;
    if (!loop.end_value.valid()) return;
    values_[loop.end_value.symbol()] = schedule_.threads ? code_.exact(end_of(state_.exprs, loop)) : reached;
  }

  /// Those of one member of the team. Dealt trips are counted by where their chunk begins, others by where the team's
  /// trip does. Returns where the next would begin.
  std::int64_t run_trips(const Body& body, const VectorLoop& loop, std::int64_t from, std::int64_t limit,
                         const Task& task) {
    const std::int64_t offset = std::int64_t{member_} * loop.lanes;
    const std::int64_t stride = std::int64_t{loop.lanes} * loop.team;
    const int chunks = loop.cyclic ? 1 : loop.unroll;
    std::int64_t c = loop.cyclic ? from + offset : from;
    for (; c < limit; c = code_.wrapped(Int128{c} + stride * chunks))
      for (int i = 0; i < chunks; ++i) {
        const std::int64_t at = loop.last.valid() ? std::min(c, code_.exact(loop.last)) : c;
        run_chunk(body, loop, at + (loop.cyclic ? 0 : offset) + i * stride, task);
        if (elements_ > kMaxElements) return c;
      }
    return c;
  }

  /// The first and the last loop of a team's strategy, by elements, which are dealt as one after the vectors
  /// (compiler/llvm/emit/emit_body_dispatch.cpp).
  void run_edges(const Body& body, const VectorLoop& head, const VectorLoop& tail, const Task& task) {
    const std::int64_t begin = code_.exact(head.from);
    const std::int64_t head_end = code_.exact(head.limit);
    const std::int64_t gap = code_.exact(tail.from) - head_end;
    const std::int64_t end = code_.exact(tail.limit) - gap;
    for (member_ = 0; member_ < members_; ++member_)
      for (std::int64_t at = begin + member_; at < end && elements_ <= kMaxElements; at += head.team)
        run_chunk(body, head, at < head_end ? at : at + gap, task);
    member_ = 0;
  }

  void run_chunk(const Body& body, const VectorLoop& loop, std::int64_t first, const Task& task) {
    Trace& trace = state_.trace;
    ++trace.chunks;
    trace.vectors += loop.lanes > 1;
    trace.realigned += loop.loads == VectorLoads::realigned;
    elements_ += loop.lanes;
    // A test has aligned the first vector after the peel.
    const std::int64_t aligned = values_[run_.begin.symbol()] + values_[run_.peel.symbol()];
    if ((loop.nontemporal || loop.aligned) && (first - aligned) % loop.lanes != 0)
      state_.record(ObligationKind::align, first,
                    fmt::format("a vector of {} is stored to column {}", loop.lanes, first));
    loads_.load_chunk(body, loop, first);
    for (int lane = 0; lane < loop.lanes; ++lane)
      writes_.write(first + lane, task, {first_writer_.block, first_writer_.thread + member_});
  }

  const Schedule& schedule_;
  Execution execution_;
  InterpreterState state_;
  std::vector<std::int64_t>& values_;  // the state's
  IndexArithmetic& code_;
  InterpretedLoads loads_;
  InterpretedWrites writes_;
  RunVariables run_;
  std::optional<TileBounds> row_tiles_, column_tiles_;  // of a grid
  Writer first_writer_;                                 // of the team that is at work
  int members_ = 1;                                     // of it
  int member_ = 0;
  std::int64_t elements_ = 0;
};

}  // namespace

Task whole_launch(const Schedule& schedule, std::span<const std::int64_t> sizes) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  std::vector<std::int64_t> values(sizes.begin(), sizes.end());
  values.resize(exprs.symbol_count(), 0);
  return {.row_first = 0,
          .row_last = ir::evaluate_int64(exprs, schedule.rows, values).value_or(0),
          .column_first = 0,
          .column_last = ir::evaluate_int64(exprs, schedule.columns, values).value_or(0)};
}

Result<Trace> interpret(const Schedule& schedule, std::span<const std::int64_t> sizes, std::span<const Task> tasks,
                        const Execution& execution) {
  return Interpreter(schedule, sizes, execution, false).run(tasks);
}

Result<Trace> interpret_grid(const Schedule& schedule, std::span<const std::int64_t> sizes, std::int64_t blocks,
                             const Execution& execution) {
  return Interpreter(schedule, sizes, execution, true).run_grid(blocks);
}

}  // namespace padlock::compiler
