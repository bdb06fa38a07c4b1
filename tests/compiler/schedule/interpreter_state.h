#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/compiler/schedule/index_arithmetic.h"
#include "tests/compiler/schedule/schedule_interpreter.h"

namespace padlock::compiler {

/// State that the parts of the schedule interpreter share: a kernel with its sizes, the current row, and the events so
/// far. The schedule is borrowed.
class InterpreterState {
 public:
  InterpreterState(const Schedule& schedule, std::span<const std::int64_t> sizes, const Execution& execution);
  InterpreterState(const InterpreterState&) = delete;
  InterpreterState& operator=(const InterpreterState&) = delete;

  /// Moves to a row by its number. Beyond the last row the first outer coordinate continues.
  void place(std::int64_t row);
  /// Returns the value of an expression over sizes. If it does not fit in 64 bits, returns 0 and adds an event.
  std::int64_t value_of(ir::Expr e);
  [[nodiscard]] bool holds(PredicateId predicate);
  void record(ObligationKind kind, std::optional<std::int64_t> column, std::string text,
              std::vector<Writer> writers = {});

  [[nodiscard]] std::int64_t columns() const { return extents.back(); }

  const Schedule& schedule;
  const Kernel& kernel;
  ir::ExprContext& exprs;
  std::vector<std::int64_t> values;  ///< one for each symbol
  IndexArithmetic code;
  std::vector<std::int64_t> extents;
  std::int64_t row_count = 0;
  std::int64_t row = 0;
  Trace trace;

 private:
  std::vector<std::int64_t> outer_;
  std::set<std::tuple<ObligationKind, std::int64_t, std::int64_t, std::string>> seen_;
};

}  // namespace padlock::compiler
