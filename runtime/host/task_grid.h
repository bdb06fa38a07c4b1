#pragma once

#include <atomic>
#include <cstdint>

namespace padlock::runtime {

/// A kernel's output, rows x columns, cut into tasks that cover each pair exactly once: blocks of whole rows, or,
/// where the rows are few and long, pieces of one row.
class TaskGrid {
 public:
  struct Task {
    std::int64_t row_first, row_last, column_first, column_last;  // half-open
  };

  /// Tasks of about `task_bytes` of the output, of which a row has `row_bytes`. All arguments >= 0, rows * columns
  /// below 2^47 (the storage limit).
  static TaskGrid split(std::int64_t rows, std::int64_t columns, std::int64_t row_bytes, std::int64_t task_bytes);

  /// 0 for an empty output.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] Task task(std::int64_t index) const;
  [[nodiscard]] std::int64_t elements() const { return rows_ * columns_; }

 private:
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t rows_per_task_ = 1;
  std::int64_t columns_per_task_ = 1;
  std::int64_t pieces_ = 1;  // of a block of rows
  std::int64_t count_ = 0;
};

/// Which tasks of a grid have run, without memory for each: what no sanitizer sees of compiled code, a build with
/// assertions counts. Thread-safe.
class TaskTally {
 public:
  void add(const TaskGrid& grid, std::int64_t index);
  /// Returns whether the tasks counted have as many elements as the grid, and their indices the number, sum and sum of
  /// squares (modulo 2^64) of all: one left out, run twice or from elsewhere breaks it.
  [[nodiscard]] bool is_complete(const TaskGrid& grid) const;

 private:
  std::atomic<std::uint64_t> elements_ = 0, count_ = 0, sum_ = 0, squares_ = 0;
};

/// Bytes of a task of an output of `bytes` that so many threads share (0: nobody knows), at least `least`. A task costs
/// its start, a fence and the lines that it shares with its neighbours, so that there are only as many as threads of
/// different speed need to end together; for one thread, one.
[[nodiscard]] std::int64_t shared_task_bytes(std::int64_t bytes, std::int64_t least, int threads);

}  // namespace padlock::runtime
