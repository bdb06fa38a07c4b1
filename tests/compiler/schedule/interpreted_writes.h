#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "tests/compiler/schedule/interpreter_state.h"

namespace padlock::compiler {

/// What the chunks of an interpreted schedule write, and whether that is all.
class InterpretedWrites {
 public:
  /// `is_grid`: in the words of which writers are named, blocks and threads or tasks. Borrows the state.
  InterpretedWrites(InterpreterState& state, bool is_grid);

  /// One element of the row that the state is at.
  void write(std::int64_t column, const Task& task, Writer writer);
  /// Rows [first, last): each column by the task that has it to do. That a neighbour writes it too is a fault of its
  /// own.
  void check_tasks(std::span<const Task> tasks, std::int64_t first, std::int64_t last);
  /// All rows: by anyone.
  void check_all();

 private:
  void check_column(std::span<const Task> tasks, std::int64_t column);
  void note(std::int64_t column, Writer writer);
  [[nodiscard]] bool is_written(std::int64_t column, std::optional<std::int64_t> block) const;
  [[nodiscard]] std::string written_twice(std::int64_t column, Writer a, Writer b) const;

  InterpreterState& state_;
  bool is_grid_;
  ir::Expr row_offset_;                                                            // results are dense
  std::map<std::tuple<std::int64_t, std::int64_t, Writer>, std::int64_t> writes_;  // by row and column
};

}  // namespace padlock::compiler
