#include "runtime/host/task_grid.h"

#include <algorithm>

namespace padlock::runtime {
namespace {

/// A piece of a row is a multiple of this many elements: a multiple of a cache line for every element type. So tasks
/// share no line if the row itself begins on one.
constexpr std::int64_t kColumnStep = 64;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

std::int64_t shared_task_bytes(std::int64_t bytes, std::int64_t least, int threads) {
  constexpr std::int64_t kTasksOfThread = 8;
  if (threads == 0) return least;
  return std::max(least, threads == 1 ? bytes : ceil_div(bytes, threads * kTasksOfThread));
}

void TaskTally::add(const TaskGrid& grid, std::int64_t index) {
  const TaskGrid::Task task = grid.task(index);
  const auto number = static_cast<std::uint64_t>(index);
  elements_ += static_cast<std::uint64_t>((task.row_last - task.row_first) * (task.column_last - task.column_first));
  ++count_;
  sum_ += number;
  squares_ += number * number;
}

bool TaskTally::is_complete(const TaskGrid& grid) const {
  std::uint64_t sum = 0, squares = 0;
  const auto count = static_cast<std::uint64_t>(grid.count());
  for (std::uint64_t i = 0; i < count; ++i) {
    sum += i;
    squares += i * i;
  }
  return elements_ == static_cast<std::uint64_t>(grid.elements()) && count_ == count && sum_ == sum &&
         squares_ == squares;
}

TaskGrid TaskGrid::split(std::int64_t rows, std::int64_t columns, std::int64_t row_bytes, std::int64_t task_bytes) {
  TaskGrid grid;
  if (rows <= 0 || columns <= 0) return grid;
  row_bytes = std::max<std::int64_t>(row_bytes, 1);
  task_bytes = std::max<std::int64_t>(task_bytes, 1);
  grid.rows_ = rows;
  grid.columns_ = columns;
  grid.rows_per_task_ = std::clamp<std::int64_t>(task_bytes / row_bytes, 1, rows);
  grid.columns_per_task_ = columns;
  // Rows of up to two tasks stay whole: the parallelism is not worth the additional edges.
  if (row_bytes / 2 > task_bytes) {
    const std::int64_t pieces = ceil_div(row_bytes, task_bytes);
    const std::int64_t width = ceil_div(ceil_div(columns, pieces), kColumnStep) * kColumnStep;
    grid.columns_per_task_ = std::min(width, columns);
  }
  grid.pieces_ = ceil_div(columns, grid.columns_per_task_);
  grid.count_ = ceil_div(rows, grid.rows_per_task_) * grid.pieces_;
  return grid;
}

TaskGrid::Task TaskGrid::task(std::int64_t index) const {
  const std::int64_t row = index / pieces_ * rows_per_task_;
  const std::int64_t column = index % pieces_ * columns_per_task_;
  return {.row_first = row,
          .row_last = std::min(row + rows_per_task_, rows_),
          .column_first = column,
          .column_last = std::min(column + columns_per_task_, columns_)};
}

}  // namespace padlock::runtime
