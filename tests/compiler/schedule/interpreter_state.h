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

/// What the parts of the interpreter of schedules share: a kernel under its sizes, the row that it is at, and what was
/// seen so far. The schedule is borrowed.
class InterpreterState {
 public:
  InterpreterState(const Schedule& schedule, std::span<const std::int64_t> sizes, const Execution& execution);
  InterpreterState(const InterpreterState&) = delete;
  InterpreterState& operator=(const InterpreterState&) = delete;

  /// Goes to a row, by its number. Of one that is not there the first outer coordinate counts on.
  void place(std::int64_t row);
  /// Of an expression over sizes; 0, and an event, where it does not fit 64 bits.
  std::int64_t value_of(ir::Expr e);
  [[nodiscard]] bool holds(PredicateId predicate);
  void record(ObligationKind kind, std::optional<std::int64_t> column, std::string text,
              std::vector<Writer> writers = {});

  [[nodiscard]] std::int64_t columns() const { return extents.back(); }

  const Schedule& schedule;
  const Kernel& kernel;
  ir::ExprContext& exprs;
  std::vector<std::int64_t> values;  ///< by symbol
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
