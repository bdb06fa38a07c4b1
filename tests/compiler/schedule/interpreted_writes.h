#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "tests/compiler/schedule/interpreter_state.h"

namespace padlock::compiler {

/// The writes of an interpreted schedule's chunks, and the check that they are complete.
class InterpretedWrites {
 public:
  /// `is_grid`: writers are named by block and thread, not by task. Borrows the state.
  InterpretedWrites(InterpreterState& state, bool is_grid);

  /// Writes one element of the state's current row.
  void write(std::int64_t column, const Task& task, Writer writer);
  /// Checks rows [first, last): its task must write each column. A write by a neighbour is a separate fault.
  void check_tasks(std::span<const Task> tasks, std::int64_t first, std::int64_t last);
  /// Checks that every element of all rows is written.
  void check_all();

 private:
  void check_column(std::span<const Task> tasks, std::int64_t column);
  void note(std::int64_t column, Writer writer);
  [[nodiscard]] bool is_written(std::int64_t column, std::optional<std::int64_t> block) const;
  [[nodiscard]] std::string written_twice(std::int64_t column, Writer a, Writer b) const;

  InterpreterState& state_;
  bool is_grid_;
  ir::Expr row_offset_;                                                            // results are dense
  std::map<std::tuple<std::int64_t, std::int64_t, Writer>, std::int64_t> writes_;  // keys are row, column and writer
};

}  // namespace padlock::compiler
