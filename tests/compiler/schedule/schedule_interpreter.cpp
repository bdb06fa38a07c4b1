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
        loads_(state_),
        writes_(state_, is_grid),
        run_(state_.exprs) {
    values_.resize(state_.exprs.symbol_count(), 0);  // those of runs and vectors, too
    for (const Body& body : schedule.bodies)
      for (const BodyNode& node : body.nodes)
        if (node.kind == NodeKind::data)
          values_[data_of(node.terms).variable.symbol()] =
              execution.reads_none ? 0 : state_.value_of(data_of(node.terms).extent);
  }

  Result<Trace> run(std::span<const Task> tasks) {
    check_extents();
    const auto [first, last] = execution_.rows.value_or(std::pair(std::int64_t{0}, state_.row_count));
    Int128 area = Int128{last - first} * state_.columns();
    for (const Task& task : tasks)
      area += Int128{task.row_last - task.row_first} * (task.column_last - task.column_first);
    if (area > kMaxElements) return too_large();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      writer_.block = static_cast<std::int64_t>(i);
      set_columns(task);
      for (std::int64_t row = task.row_first; row < task.row_last; ++row) {
        run_row(row, task);
        if (elements_ > kMaxElements) return too_large();
      }
    }
    writes_.check_tasks(tasks, first, last);
    return finished();
  }

  Result<Trace> run_grid() {
    check_extents();
    const VectorGrid& grid = *schedule_.grid();
    if (state_.row_count * std::max<std::int64_t>(1, state_.columns()) > kMaxElements) return too_large();
    values_[grid.elements.symbol()] = state_.row_count * state_.columns();
    values_[grid.phase.symbol()] = execution_.phase;
    const std::int64_t used = values_[grid.used.symbol()] = code_.exact(schedule_.used_vectors());
    const std::int64_t blocks = code_.exact(schedule_.blocks());
    for (writer_.block = 0; writer_.block < blocks; ++writer_.block)
      for (writer_.thread = 0; writer_.thread < grid.threads; ++writer_.thread)
        for (std::int64_t i = 0; i < used; ++i) {
          values_[grid.block.symbol()] = writer_.block;
          values_[grid.slot.symbol()] = i * grid.threads + writer_.thread;
          run_vector(code_.exact(grid.first));
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

  /// The parts of a vector in each row that it lies in.
  void run_vector(std::int64_t first) {
    const std::int64_t columns = std::max<std::int64_t>(1, state_.columns());
    const std::int64_t end = std::min(first + schedule_.grid()->lanes, state_.row_count * columns);
    for (std::int64_t element = std::max<std::int64_t>(first, 0); element < end;) {
      const std::int64_t row = element / columns;
      const std::int64_t last = std::min(end, (row + 1) * columns);
      const Task task{.row_first = row,
                      .row_last = row + 1,
                      .column_first = element - row * columns,
                      .column_last = last - row * columns};
      set_columns(task);
      run_row(row, task);
      element = last;
    }
  }

  // --- rows ---------------------------------------------------------------------------------------------------------

  void set_columns(const Task& task) {
    values_[run_.column_first.symbol()] = task.column_first;
    values_[run_.column_last.symbol()] = task.column_last;
  }

  void run_row(std::int64_t row, const Task& task) {
    state_.place(row);
    if (const SegmentCall* data = schedule_.row_data_call()) {
      loads_.enter(*data);
      loads_.load_chunk(schedule_.body_of(*data), {.from = {}, .limit = {}, .lanes = 1}, 0);
    }
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
    loads_.enter(call);
    for (const VectorLoop& loop : chosen(body).loops) run_loop(body, loop, task);
  }

  [[nodiscard]] bool allowed(const LoopStrategy& strategy) {
    const auto hold = [&](const std::vector<Expr>& all) {
      return std::ranges::all_of(all, [&](Expr e) { return code_.exact(e) >= 0; });
    };
    const bool is_of_length =
        strategy.kind == LoopStrategyKind::overlapped || strategy.kind == LoopStrategyKind::whole_vector;
    if (is_of_length && !hold(strategy.invariants)) return false;
    values_[run_.shift.symbol()] = execution_.shift;
    values_[run_.peel.symbol()] = execution_.peel;
    if (!hold(strategy.invariants)) values_[run_.shift.symbol()] = values_[run_.peel.symbol()] = 0;
    return hold(strategy.entry_conditions);
  }

  /// Returns the requested strategy, else the next simpler one whose tests hold.
  const LoopStrategy& chosen(const Body& body) {
    for (std::size_t i = body.strategies.size(); i-- > 1;)
      if (body.strategies[i].kind <= execution_.strategy && allowed(body.strategies[i])) return body.strategies[i];
    return body.strategies.front();
  }

  void run_loop(const Body& body, const VectorLoop& loop, const Task& task) {
    const std::int64_t from = code_.exact(loop.from);
    if (loop.single_trip) return run_chunk(body, loop, from, task);
    const std::int64_t limit = code_.exact(loop.limit);
    const std::int64_t reached = run_trips(body, loop, from, limit, task);
    if (loop.end_value.valid()) values_[loop.end_value.symbol()] = reached;
  }

  /// Runs whole trips. Returns the column at which the next trip would begin.
  std::int64_t run_trips(const Body& body, const VectorLoop& loop, std::int64_t from, std::int64_t limit,
                         const Task& task) {
    std::int64_t c = from;
    for (; c < limit; c = code_.wrapped(Int128{c} + loop.step()))
      for (int i = 0; i < loop.unroll; ++i) {
        const std::int64_t at = loop.last.valid() ? std::min(c, code_.exact(loop.last)) : c;
        run_chunk(body, loop.masked ? masked(loop, at, limit) : loop, at + std::int64_t{i} * loop.lanes, task);
        if (elements_ > kMaxElements) return c;
      }
    return c;
  }

  /// The part of a loop's vector that its mask leaves.
  static VectorLoop masked(VectorLoop loop, std::int64_t first, std::int64_t limit) {
    loop.lanes = static_cast<int>(std::min<std::int64_t>(loop.lanes, limit - first));
    return loop;
  }

  void run_chunk(const Body& body, const VectorLoop& loop, std::int64_t first, const Task& task) {
    Trace& trace = state_.trace;
    ++trace.chunks;
    trace.vectors += loop.lanes > 1;
    elements_ += loop.lanes;
    // A test has aligned the first vector after the peel.
    const std::int64_t aligned = values_[run_.begin.symbol()] + values_[run_.peel.symbol()];
    if (loop.nontemporal && (first - aligned) % loop.lanes != 0)
      state_.record(ObligationKind::align, first,
                    fmt::format("a vector of {} is stored to column {}", loop.lanes, first));
    loads_.load_chunk(body, loop, first);
    for (int lane = 0; lane < loop.lanes; ++lane) writes_.write(first + lane, task, writer_);
  }

  const Schedule& schedule_;
  Execution execution_;
  InterpreterState state_;
  std::vector<std::int64_t>& values_;  // the state's
  IndexArithmetic& code_;
  InterpretedLoads loads_;
  InterpretedWrites writes_;
  RunVariables run_;
  Writer writer_;  // the current writer
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

Result<Trace> interpret_grid(const Schedule& schedule, std::span<const std::int64_t> sizes,
                             const Execution& execution) {
  return Interpreter(schedule, sizes, execution, true).run_grid();
}

}  // namespace padlock::compiler
