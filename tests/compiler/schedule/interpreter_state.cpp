#include "tests/compiler/schedule/interpreter_state.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

namespace {

constexpr std::int64_t kMaxRows = std::int64_t{1} << 62;

}  // namespace

InterpreterState::InterpreterState(const Schedule& of_schedule, std::span<const std::int64_t> sizes,
                                   const Execution& execution)
    : schedule(of_schedule),
      kernel(schedule.kernel),
      exprs(kernel.program->exprs()),
      values(sizes.begin(), sizes.end()),
      code(exprs, values, execution.index_bits) {
  values.resize(exprs.symbol_count(), 0);
  for (const Expr extent : kernel.extents) extents.push_back(value_of(extent));
  Int128 rows = 1;
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis)
    rows = std::min<Int128>(rows * std::max<std::int64_t>(0, extents[axis]), kMaxRows);
  row_count = static_cast<std::int64_t>(rows);
}

void InterpreterState::place(std::int64_t number) {
  row = number;
  outer_.assign(extents.size() - 1, 0);
  std::int64_t rest = row;
  for (std::size_t axis = outer_.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(1, extents[axis]);
    outer_[axis] = axis == 0 ? rest : floor_mod(rest, extent);
    rest = axis == 0 ? 0 : floor_div(rest, extent);
    values[kernel.coordinate(static_cast<int>(axis)).symbol()] = outer_[axis];
  }
}

std::int64_t InterpreterState::value_of(Expr e) {
  const Result<std::int64_t> value = ir::evaluate_int64(exprs, e, values);
  if (value) return *value;
  trace.events.push_back({ObligationKind::width, {}, {}, value.error().message});
  return 0;
}

bool InterpreterState::holds(PredicateId predicate) {
  return std::ranges::all_of(kernel.graph.conditions_of(predicate), [&](ConditionId id) {
    const Condition& condition = kernel.graph.condition(id);
    const std::int64_t value = code.exact(condition.expr);
    return condition.kind == Condition::Kind::zero ? value == 0 : value >= 0;
  });
}

void InterpreterState::record(ObligationKind kind, std::optional<std::int64_t> column, std::string text,
                              std::vector<Writer> writers) {
  if (!seen_.emplace(kind, row, column.value_or(-1), text).second) return;
  trace.events.push_back({kind, outer_, column, std::move(text), std::move(writers)});
}

}  // namespace padlock::compiler
