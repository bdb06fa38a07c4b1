#include "runtime/host/task_grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "tests/common/environment.h"

namespace padlock::runtime {
namespace {

/// How often each (row, column) is covered.
std::vector<int> coverage(const TaskGrid& grid, std::int64_t rows, std::int64_t columns) {
  std::vector<int> counts(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    const TaskGrid::Task task = grid.task(i);
    REQUIRE(task.row_first < task.row_last);
    REQUIRE(task.column_first < task.column_last);
    REQUIRE(task.row_last <= rows);
    REQUIRE(task.column_last <= columns);
    for (std::int64_t row = task.row_first; row < task.row_last; ++row)
      for (std::int64_t column = task.column_first; column < task.column_last; ++column)
        ++counts[static_cast<std::size_t>(row * columns + column)];
  }
  return counts;
}

TEST_CASE("tasks cover every row and column exactly once") {
  const std::uint64_t seed = testing::seed_or(20261120);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 40);
    const std::int64_t columns = 1 + static_cast<std::int64_t>(random() % 1000);
    const std::int64_t element = std::int64_t{1} << (random() % 4);
    const std::int64_t task_bytes = 1 + static_cast<std::int64_t>(random() % 5000);
    CAPTURE(rows);
    CAPTURE(columns);
    CAPTURE(task_bytes);
    const TaskGrid grid = TaskGrid::split(rows, columns, columns * element, task_bytes);
    const std::vector<int> counts = coverage(grid, rows, columns);
    CHECK(counts == std::vector<int>(counts.size(), 1));
  }
}

TEST_CASE("a tally is complete when each task was counted once") {
  const TaskGrid grid = TaskGrid::split(7, 1000, 4000, 1024);
  REQUIRE(grid.count() > 20);
  const auto complete = [&](const std::vector<std::int64_t>& indices) {
    TaskTally tally;
    for (const std::int64_t index : indices) tally.add(grid, index);
    return tally.is_complete(grid);
  };
  std::vector<std::int64_t> all(static_cast<std::size_t>(grid.count()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  CHECK(complete(all));
  std::ranges::reverse(all);
  CHECK(complete(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::int64_t> wrong = all;
    wrong[i] = all[(i + 1) % all.size()];  // one twice, one not at all
    CHECK_FALSE(complete(wrong));
    wrong.erase(wrong.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(complete(wrong));
  }
  CHECK(TaskTally().is_complete(TaskGrid::split(0, 10, 40, 1024)));
}

TEST_CASE("an empty output has no tasks") {
  CHECK(TaskGrid::split(0, 10, 40, 1024).count() == 0);
  CHECK(TaskGrid::split(10, 0, 0, 1024).count() == 0);
}

TEST_CASE("a small output is one task") {
  CHECK(TaskGrid::split(16, 16, 64, 1024).count() == 1);
  CHECK(TaskGrid::split(1, 512, 2048, 1024).count() == 1);  // cutting a row in two gains nothing
}

TEST_CASE("few long rows are cut along the columns, in steps of 64 elements") {
  const TaskGrid grid = TaskGrid::split(2, 100000, 400000, 64 << 10);
  CHECK(grid.count() == 14);
  const TaskGrid::Task first = grid.task(0);
  CHECK(first.row_first == 0);
  CHECK(first.row_last == 1);
  CHECK(first.column_last % 64 == 0);
}

TEST_CASE("an output has as many tasks as its threads have a use for") {
  CHECK(shared_task_bytes(1 << 20, 4096, 0) == 4096);
  CHECK(shared_task_bytes(1 << 20, 4096, 1) == 1 << 20);
  CHECK(shared_task_bytes(100, 4096, 1) == 4096);
  CHECK(shared_task_bytes(1 << 20, 4096, 2) == 1 << 16);
  CHECK(shared_task_bytes(1 << 20, 1 << 18, 2) == 1 << 18);
  CHECK(TaskGrid::split(1000, 1000, 4000, shared_task_bytes(4'000'000, 4096, 1)).count() == 1);
  CHECK(TaskGrid::split(1, 1'000'000, 4'000'000, shared_task_bytes(4'000'000, 4096, 1)).count() == 1);
}

TEST_CASE("the largest output there can be is cut without overflow") {
  const std::int64_t columns = (std::int64_t{1} << 47) - 1;
  const TaskGrid grid = TaskGrid::split(1, columns, columns, 64 << 10);
  CHECK(grid.count() > 1);
  CHECK(grid.task(grid.count() - 1).column_last == columns);
  const TaskGrid rows = TaskGrid::split(columns, 1, 1, 64 << 10);
  CHECK(rows.task(rows.count() - 1).row_last == columns);
}

}  // namespace
}  // namespace padlock::runtime
