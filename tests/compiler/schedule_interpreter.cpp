#include "tests/compiler/schedule_interpreter.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "ir/expr_tape.h"
#include "tests/compiler/index_arithmetic.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 22;
constexpr std::int64_t kMaxRows = std::int64_t{1} << 62;

class Interpreter {
 public:
  Interpreter(const Schedule& schedule, std::span<const std::int64_t> sizes, const Execution& execution)
      : schedule_(schedule),
        kernel_(schedule.kernel),
        exprs_(kernel_.program->exprs()),
        execution_(execution),
        run_(exprs_),
        column_(kernel_.coordinate(kernel_.rank() - 1)),
        values_(sizes.begin(), sizes.end()),
        code_(exprs_, values_, execution.index_bits) {
    if (schedule.threads) {
      row_tiles_ = schedule.row_bounds();
      column_tiles_ = schedule.column_bounds();
    }
    values_.resize(exprs_.symbol_count(), 0);
    for (const Expr extent : kernel_.extents) extents_.push_back(value_of(extent));
    Int128 rows = 1;
    for (std::size_t axis = 0; axis + 1 < extents_.size(); ++axis)
      rows = std::min<Int128>(rows * std::max<std::int64_t>(0, extents_[axis]), kMaxRows);
    row_count_ = static_cast<std::int64_t>(rows);
    if (guards_hold()) {
      std::set<std::uint32_t> narrow;
      for (const Expr e : schedule.narrowing.divisions) narrow.insert(e.id());
      code_.narrow(std::move(narrow));
    }
  }

  Result<Trace> run(std::span<const Task> tasks) {
    check_extents();
    const auto [first, last] = execution_.rows.value_or(std::pair(std::int64_t{0}, row_count_));
    Int128 area = Int128{last - first} * extents_.back();
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
    for (std::int64_t row = first; row < last; ++row) {
      place(row);
      for (std::int64_t c = 0; c < extents_.back(); ++c) check_written(tasks, row, c);
    }
    return finished();
  }

  Result<Trace> run_grid(std::int64_t blocks) {
    check_extents();
    is_grid_ = true;
    const std::int64_t tiles = code_.exact(schedule_.tiles());
    if (blocks == 0) blocks = tiles;
    const Int128 work = Int128{std::max(tiles, blocks)} * schedule_.threads->teams();
    const Int128 columns = std::max<std::int64_t>(1, extents_.back());
    if (work > kMaxElements || row_count_ * columns > kMaxElements) return too_large();
    for (std::int64_t block = 0; block < blocks; ++block)
      for (std::int64_t tile = block; tile < tiles; tile += blocks) {
        first_writer_.block = block;
        schedule_.threads->flat ? run_elements(tile) : run_tile(tile);
        if (elements_ > kMaxElements) return too_large();
      }
    for (std::int64_t row = 0; row < row_count_; ++row) {
      place(row);
      for (std::int64_t c = 0; c < extents_.back(); ++c)
        if (!is_written(row, c)) record(ObligationKind::cover, c, fmt::format("column {} is never written", c));
    }
    return finished();
  }

 private:
  Result<Trace> finished() {
    if (code_.failure()) trace_.events.push_back({ObligationKind::width, {}, {}, *code_.failure()});
    return std::move(trace_);
  }

  static std::unexpected<Error> too_large() {
    return resource_exhausted("the interpreter of schedules takes kernels of some millions of elements");
  }

  /// As the launcher decides whether the specialised variant is launched.
  [[nodiscard]] bool guards_hold() const {
    return std::ranges::all_of(schedule_.narrowing.guards, [&](const ir::Guard& guard) {
      const Result<Int128> lhs = ir::evaluate(exprs_, guard.holds.lhs, values_);
      const Result<Int128> rhs = ir::evaluate(exprs_, guard.holds.rhs, values_);
      return lhs && rhs && ir::holds(*lhs, guard.holds.comparison, *rhs);
    });
  }

  std::int64_t value_of(Expr e) {
    const Result<std::int64_t> value = ir::evaluate_int64(exprs_, e, values_);
    if (value) return *value;
    trace_.events.push_back({ObligationKind::width, {}, {}, value.error().message});
    return 0;
  }

  void record(ObligationKind kind, std::optional<std::int64_t> column, std::string text,
              std::vector<Writer> writers = {}) {
    if (!seen_.emplace(kind, row_, column.value_or(-1), text).second) return;
    trace_.events.push_back({kind, outer_, column, std::move(text), std::move(writers), row_});
  }

  void check_extents() {
    for (const ir::ValueId id : kernel_.results)
      for (const Expr extent : kernel_.program->value(id).extents())
        if (const std::int64_t n = value_of(extent); n < 0)
          trace_.events.push_back({ObligationKind::extent, {}, {}, fmt::format("the extent is {}", n)});
  }

  /// By the task that has it to do: that a neighbour writes it too is a fault of its own.
  void check_written(std::span<const Task> tasks, std::int64_t row, std::int64_t column) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      if (row < task.row_first || row >= task.row_last || column < task.column_first || column >= task.column_last)
        continue;
      if (!is_written(row, column, static_cast<std::int64_t>(i)))
        record(ObligationKind::cover, column, fmt::format("column {} is never written", column));
      return;
    }
    record(ObligationKind::cover, column, fmt::format("column {} is nobody's", column));
  }

  /// By anyone, or by one of that block.
  [[nodiscard]] bool is_written(std::int64_t row, std::int64_t column, std::optional<std::int64_t> block = {}) const {
    const auto at = writes_.lower_bound({row, column, Writer{block.value_or(0), 0}});
    return at != writes_.end() && std::get<0>(at->first) == row && std::get<1>(at->first) == column &&
           (!block || std::get<2>(at->first).block == *block);
  }

  // --- a grid (compiler/llvm/emit_gpu.cpp) --------------------------------------------------------------------------

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
    place(row);
    run_case(0, task);
  }

  /// The outer coordinates of a row. Of one that is not there the first counts on.
  void place(std::int64_t row) {
    row_ = row;
    outer_.assign(extents_.size() - 1, 0);
    std::int64_t rest = row;
    for (std::size_t axis = outer_.size(); axis-- > 0;) {
      const std::int64_t extent = std::max<std::int64_t>(1, extents_[axis]);
      outer_[axis] = axis == 0 ? rest : floor_mod(rest, extent);
      rest = axis == 0 ? 0 : floor_div(rest, extent);
      values_[kernel_.coordinate(static_cast<int>(axis)).symbol()] = outer_[axis];
    }
  }

  bool holds(PredicateId predicate) {
    return std::ranges::all_of(kernel_.graph.conditions_of(predicate), [&](ConditionId id) {
      const Condition& condition = kernel_.graph.condition(id);
      const std::int64_t value = code_.exact(condition.expr);
      return condition.kind == Condition::Kind::zero ? value == 0 : value >= 0;
    });
  }

  void run_case(int index, const Task& task) {
    const ScheduledCase& row = schedule_.cases[static_cast<std::size_t>(index)];
    if (row.is_test()) return run_case(holds(row.test) ? row.holds : row.fails, task);
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
    prepare(call);
    const Walk& walk = chosen(body.walks);
    for (const ChunkLoop& loop : walk.loops) run_loop(call, body, loop, task);
  }

  [[nodiscard]] bool allowed(const Walk& walk) {
    const auto hold = [&](const std::vector<Expr>& all) {
      return std::ranges::all_of(all, [&](Expr e) { return code_.exact(e) >= 0; });
    };
    values_[run_.shift.symbol()] = execution_.shift;
    values_[run_.peel.symbol()] = execution_.peel;
    if (!hold(walk.bounds)) values_[run_.shift.symbol()] = values_[run_.peel.symbol()] = 0;
    return hold(walk.tests);
  }

  /// The walk that was asked for, else the next simpler one whose tests hold.
  const Walk& chosen(const std::vector<Walk>& walks) {
    for (std::size_t i = walks.size(); i-- > 1;)
      if (walks[i].kind <= execution_.walk && allowed(walks[i])) return walks[i];
    return walks.front();
  }

  void run_loop(const SegmentCall& call, const Body& body, const ChunkLoop& loop, const Task& task) {
    const std::int64_t from = code_.exact(loop.from);
    if (loop.once) return run_chunk(call, body, loop, from, task);
    const std::int64_t limit = code_.exact(loop.limit);
    std::int64_t reached = from;
    for (member_ = 0; member_ < members_; ++member_) reached = run_trips(call, body, loop, from, limit, task);
    member_ = 0;
    if (!loop.reached.valid()) return;
    values_[loop.reached.symbol()] = schedule_.threads ? code_.exact(end_of(exprs_, loop)) : reached;
  }

  /// Those of one member of the team. Dealt trips are counted by where their chunk begins, others by where the team's
  /// trip does. Returns where the next would begin.
  std::int64_t run_trips(const SegmentCall& call, const Body& body, const ChunkLoop& loop, std::int64_t from,
                         std::int64_t limit, const Task& task) {
    const std::int64_t offset = std::int64_t{member_} * loop.lanes;
    const std::int64_t stride = std::int64_t{loop.lanes} * loop.team;
    const int chunks = loop.dealt ? 1 : loop.unroll;
    std::int64_t c = loop.dealt ? from + offset : from;
    for (; c < limit; c = code_.wrapped(Int128{c} + stride * chunks))
      for (int i = 0; i < chunks; ++i) {
        const std::int64_t at = loop.last.valid() ? std::min(c, code_.exact(loop.last)) : c;
        run_chunk(call, body, loop, at + (loop.dealt ? 0 : offset) + i * stride, task);
        if (elements_ > kMaxElements) return c;
      }
    return c;
  }

  void run_chunk(const SegmentCall& call, const Body& body, const ChunkLoop& loop, std::int64_t first,
                 const Task& task) {
    ++trace_.chunks;
    trace_.vectors += loop.lanes > 1;
    // A test has aligned the first vector after the peel.
    const std::int64_t aligned = values_[run_.begin.symbol()] + values_[run_.peel.symbol()];
    if ((loop.nontemporal || loop.aligned) && (first - aligned) % loop.lanes != 0)
      record(ObligationKind::align, first, fmt::format("a vector of {} is stored to column {}", loop.lanes, first));
    for (int lane = 0; lane < loop.lanes; ++lane) {
      ++elements_;
      const std::int64_t column = first + lane;
      for (std::size_t i = 0; i < body.loads.size(); ++i) load(call, body, i, column);
      if (const std::optional<std::int64_t> operand = code_.take_overflow())
        record(ObligationKind::width, column, fmt::format("{} is divided, or by it, in 32 bits", *operand));
      store(column, task);
    }
  }

  void store(std::int64_t column, const Task& task) {
    if (column < 0) record(ObligationKind::store, column, fmt::format("column {} is written, before column 0", column));
    if (column >= extents_.back())
      record(ObligationKind::store, column,
             fmt::format("column {} is written, the extent is {}", column, extents_.back()));
    if (row_ < 0) record(ObligationKind::store, column, fmt::format("row {} is written, before row 0", row_));
    if (row_ >= row_count_)
      record(ObligationKind::store, column, fmt::format("row {} is written of {}", row_, row_count_));
    if (column < task.column_first)
      record(ObligationKind::disjoint, column,
             fmt::format("column {} is written, the task begins at {}", column, task.column_first));
    if (column >= task.column_last)
      record(ObligationKind::disjoint, column,
             fmt::format("column {} is written, the task ends before {}", column, task.column_last));
    const std::int64_t element = code_.wrapped(Int128{code_.address(row_offset())} + column);
    if (Int128{element} != Int128{row_} * extents_.back() + column)
      record(ObligationKind::store, column, fmt::format("element {} is written", element));
    note_write(column);
  }

  void note_write(std::int64_t column) {
    const Writer writer{first_writer_.block, first_writer_.thread + member_};
    ++writes_[{row_, column, writer}];
    ++trace_.writes;
    for (auto it = writes_.lower_bound({row_, column, Writer{}}); it != writes_.end(); ++it) {
      const auto& [row, at, other] = it->first;
      if (row != row_ || at != column) break;
      if (other != writer)
        record(ObligationKind::disjoint, column, written_twice(column, other, writer), {other, writer});
    }
  }

  [[nodiscard]] std::string written_twice(std::int64_t column, Writer a, Writer b) const {
    if (!is_grid_)
      return fmt::format("column {} is written by two {}", column, a.block == b.block ? "members of a team" : "tasks");
    return fmt::format("column {} is written by thread {} of block {} and thread {} of block {}", column, a.thread,
                       a.block, b.thread, b.block);
  }

  /// Results are dense.
  Expr row_offset() {
    if (!row_offset_.valid()) {
      std::vector<Expr> coordinates;
      for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) coordinates.push_back(kernel_.coordinate(axis));
      coordinates.push_back(exprs_.constant(0));
      row_offset_ = ir::Layout::dense(exprs_, kernel_.extents).offset_of(exprs_, coordinates);
    }
    return row_offset_;
  }

  // --- loads --------------------------------------------------------------------------------------------------------

  /// What a stream needs for each element, evaluated together, and what holds of all elements.
  struct Prepared {
    ir::ExprTape coordinates;
    std::vector<std::int64_t> extents;
    std::int64_t used = 0, stored = 0;  // elements: of the view, of the tensor
  };

  void prepare(const SegmentCall& call) {
    streams_ = &prepared_[&call];
    if (!streams_->empty() || call.streams.empty()) return;
    for (const Stream& stream : call.streams) {
      const ir::Layout& view = kernel_.graph.layout(stream.layout);
      Prepared made{.coordinates = ir::ExprTape(exprs_, stream.coordinates), .extents = {}};
      for (const Expr extent : view.extents()) made.extents.push_back(value_of(extent));
      made.used = value_of(view.span(exprs_));
      made.stored = value_of(kernel_.program->value(stream.tensor).layout.storage_extent());
      streams_->push_back(std::move(made));
    }
  }

  void load(const SegmentCall& call, const Body& body, std::size_t index, std::int64_t column) {
    const BodyLoad& how = body.loads[index];
    const Stream& stream = call.streams[index];
    const Prepared& prepared = (*streams_)[index];
    const ir::Value& tensor = kernel_.program->value(stream.tensor);
    values_[column_.symbol()] = column;
    if (!holds(how.guard)) return;
    ++trace_.loads;
    std::vector<std::int64_t> at(stream.coordinates.size());
    if (const Status status = prepared.coordinates.evaluate(values_, at); !status)
      record(ObligationKind::width, column, status.error().message);
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (at[axis] < 0 || at[axis] >= prepared.extents[axis])
        record(ObligationKind::load, column,
               fmt::format("coordinate {} on axis {} of {}, whose extent is {}", at[axis], axis, tensor.name,
                           prepared.extents[axis]));
    const std::int64_t bytes = ir::byte_size(tensor.dtype);
    if (prepared.used > prepared.stored)
      record(ObligationKind::load, column,
             fmt::format("{} bytes are accessed of {}, whose storage is {} bytes", prepared.used * bytes, tensor.name,
                         prepared.stored * bytes));
    const std::int64_t element = element_of(how, stream, column);
    if (element < 0 || element >= prepared.stored)
      record(ObligationKind::load, column,
             fmt::format("element {} of {} is read where its storage has {}", element, tensor.name, prepared.stored));
  }

  /// As emitted (compiler/llvm/emit_body.cpp).
  std::int64_t element_of(const BodyLoad& how, const Stream& stream, std::int64_t column) {
    if (how.kind == LoadKind::general) return code_.address(how.offset);
    const Int128 base = code_.address(stream.base);
    switch (how.kind) {
      case LoadKind::contiguous:
        return code_.wrapped(base + column);
      case LoadKind::reversed:
        return code_.wrapped(base - column);
      case LoadKind::strided:
        return code_.wrapped(base + code_.wrapped(Int128{code_.address(how.step)} * column));
      default:
        return static_cast<std::int64_t>(base);
    }
  }

  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Execution execution_;
  RunVariables run_;
  Expr column_;
  std::vector<std::int64_t> values_;  // by symbol
  IndexArithmetic code_;
  std::vector<std::int64_t> extents_;
  std::int64_t row_count_ = 0;
  Expr row_offset_;
  std::map<const SegmentCall*, std::vector<Prepared>> prepared_;
  std::vector<Prepared>* streams_ = nullptr;
  std::optional<TileBounds> row_tiles_, column_tiles_;  // of a grid
  bool is_grid_ = false;
  Writer first_writer_;  // of the team that is at work
  int members_ = 1;      // of it
  int member_ = 0;
  std::int64_t row_ = 0;
  std::vector<std::int64_t> outer_;
  std::int64_t elements_ = 0;
  std::map<std::tuple<std::int64_t, std::int64_t, Writer>, std::int64_t> writes_;  // by row and column
  std::set<std::tuple<ObligationKind, std::int64_t, std::int64_t, std::string>> seen_;
  Trace trace_;
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
  return Interpreter(schedule, sizes, execution).run(tasks);
}

Result<Trace> interpret_grid(const Schedule& schedule, std::span<const std::int64_t> sizes, std::int64_t blocks,
                             const Execution& execution) {
  return Interpreter(schedule, sizes, execution).run_grid(blocks);
}

}  // namespace padlock::compiler
