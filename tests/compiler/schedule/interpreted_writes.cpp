#include "tests/compiler/schedule/interpreted_writes.h"

#include <vector>

#include <fmt/format.h>

namespace padlock::compiler {

InterpretedWrites::InterpretedWrites(InterpreterState& state, bool is_grid) : state_(state), is_grid_(is_grid) {
  std::vector<ir::Expr> coordinates;
  for (int axis = 0; axis + 1 < state.kernel.rank(); ++axis) coordinates.push_back(state.kernel.coordinate(axis));
  coordinates.push_back(state.exprs.constant(0));
  row_offset_ = ir::Layout::dense(state.exprs, state.kernel.extents).offset_of(state.exprs, coordinates);
}

void InterpretedWrites::write(std::int64_t column, const Task& task, Writer writer) {
  const auto record = [&](ObligationKind kind, std::string text) { state_.record(kind, column, std::move(text)); };
  const std::int64_t row = state_.row;
  if (column < 0) record(ObligationKind::store, fmt::format("column {} is written, before column 0", column));
  if (column >= state_.columns())
    record(ObligationKind::store, fmt::format("column {} is written, the extent is {}", column, state_.columns()));
  if (row < 0) record(ObligationKind::store, fmt::format("row {} is written, before row 0", row));
  if (row >= state_.row_count)
    record(ObligationKind::store, fmt::format("row {} is written of {}", row, state_.row_count));
  if (column < task.column_first)
    record(ObligationKind::disjoint,
           fmt::format("column {} is written, the task begins at {}", column, task.column_first));
  if (column >= task.column_last)
    record(ObligationKind::disjoint,
           fmt::format("column {} is written, the task ends before {}", column, task.column_last));
  const std::int64_t element = state_.code.wrapped(Int128{state_.code.address(row_offset_)} + column);
  if (Int128{element} != Int128{row} * state_.columns() + column)
    record(ObligationKind::store, fmt::format("element {} is written", element));
  note(column, writer);
}

void InterpretedWrites::note(std::int64_t column, Writer writer) {
  ++writes_[{state_.row, column, writer}];
  ++state_.trace.writes;
  for (auto it = writes_.lower_bound({state_.row, column, Writer{}}); it != writes_.end(); ++it) {
    const auto& [row, at, other] = it->first;
    if (row != state_.row || at != column) break;
    if (other != writer)
      state_.record(ObligationKind::disjoint, column, written_twice(column, other, writer), {other, writer});
  }
}

std::string InterpretedWrites::written_twice(std::int64_t column, Writer a, Writer b) const {
  if (!is_grid_) return fmt::format("column {} is written by two tasks", column);
  return fmt::format("column {} is written by thread {} of block {} and thread {} of block {}", column, a.thread,
                     a.block, b.thread, b.block);
}

void InterpretedWrites::check_tasks(std::span<const Task> tasks, std::int64_t first, std::int64_t last) {
  for (std::int64_t row = first; row < last; ++row) {
    state_.place(row);
    for (std::int64_t c = 0; c < state_.columns(); ++c) check_column(tasks, c);
  }
}

void InterpretedWrites::check_column(std::span<const Task> tasks, std::int64_t column) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (state_.row < task.row_first || state_.row >= task.row_last || column < task.column_first ||
        column >= task.column_last)
      continue;
    if (!is_written(column, static_cast<std::int64_t>(i)))
      state_.record(ObligationKind::cover, column, fmt::format("column {} is never written", column));
    return;
  }
  state_.record(ObligationKind::cover, column, fmt::format("column {} is nobody's", column));
}

void InterpretedWrites::check_all() {
  for (std::int64_t row = 0; row < state_.row_count; ++row) {
    state_.place(row);
    for (std::int64_t c = 0; c < state_.columns(); ++c)
      if (!is_written(c, {})) state_.record(ObligationKind::cover, c, fmt::format("column {} is never written", c));
  }
}

/// By anyone, or by one of that block.
bool InterpretedWrites::is_written(std::int64_t column, std::optional<std::int64_t> block) const {
  const auto at = writes_.lower_bound({state_.row, column, Writer{block.value_or(0), 0}});
  return at != writes_.end() && std::get<0>(at->first) == state_.row && std::get<1>(at->first) == column &&
         (!block || std::get<2>(at->first).block == *block);
}

}  // namespace padlock::compiler
