#pragma once

#include <atomic>
#include <cstdint>

namespace padlock::runtime {

/// A kernel's output, rows x columns, cut into tasks that cover each pair exactly once: blocks of whole rows or, for
/// few long rows, pieces of one row.
class TaskGrid {
 public:
  struct Task {
    std::int64_t row_first, row_last, column_first, column_last;  // half-open
  };

  /// Makes tasks of about `task_bytes` of output; a row has `row_bytes`. All arguments >= 0, rows * columns below 2^47
  /// (the storage limit).
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
  std::int64_t pieces_ = 1;  // per block of rows
  std::int64_t count_ = 0;
};

/// Counts the tasks of a grid that have run, without memory for each. Builds with assertions use it, since no sanitizer
/// sees compiled code. Thread-safe.
class TaskTally {
 public:
  void add(const TaskGrid& grid, std::int64_t index);
  /// Returns whether the counted tasks have as many elements as the grid, and their indices the number, sum and sum of
  /// squares (modulo 2^64) of all. A task that is omitted, repeated or foreign changes these.
  [[nodiscard]] bool is_complete(const TaskGrid& grid) const;

 private:
  // In the default order, which costs nothing beside the assertions of such a build.
  std::atomic<std::uint64_t> elements_ = 0, count_ = 0, sum_ = 0, squares_ = 0;
};

/// Returns the bytes of a task, at least `least`, for an output of `bytes` shared by `threads` threads (0: unknown).
/// Each task costs its start, a fence and the cache lines that it shares with neighbours. So there are only as many
/// tasks as threads of different speed need to end together; for one thread, one.
[[nodiscard]] std::int64_t shared_task_bytes(std::int64_t bytes, std::int64_t least, int threads);

}  // namespace padlock::runtime
