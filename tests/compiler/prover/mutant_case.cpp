#include "tests/compiler/prover/mutant_case.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "compiler/targets/gpu_config.h"
#include "tests/compiler/schedule/interpreter_state.h"
#include "tests/compiler/schedule/schedule_interpreter.h"
#include "tests/compiler/seeded/seeded_bugs.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::int64_t kAllRowsElements = 50'000;
constexpr std::int64_t kMaxElements = 1'000'000;
constexpr std::array kThreadStrategies = {LoopStrategyKind::scalar, LoopStrategyKind::overlapped,
                                          LoopStrategyKind::peeled_vector, LoopStrategyKind::nontemporal};
constexpr std::array kVectorStrategies = {LoopStrategyKind::scalar, LoopStrategyKind::whole_vector};

/// A counter-example made ready to be executed.
class Example {
 public:
  Example(const Schedule& schedule, const Counterexample& example)
      : schedule_(schedule), exprs_(schedule.kernel.program->exprs()), sizes_(exprs_.symbol_count(), 0) {
    for (const auto& [name, value] : example.sizes)
      if (const auto symbol = exprs_.find_symbol(name)) sizes_[symbol->symbol()] = value;
    where_.insert(example.where.begin(), example.where.end());
  }

  /// What the program requires of a binding and this is not.
  [[nodiscard]] std::string illegal() const {
    for (std::uint32_t i = 0; i < sizes_.size(); ++i) {
      const ir::Symbol& symbol = exprs_.symbol(i);
      const bool fits = symbol.range.contains(sizes_[i]) &&
                        (symbol.congruence.modulus <= 1 ||
                         floor_mod<std::int64_t>(sizes_[i], symbol.congruence.modulus) == symbol.congruence.residue);
      if (symbol.kind != ir::SymbolKind::coordinate && !fits)
        return fmt::format("{} = {} cannot be bound", symbol.name, sizes_[i]);
    }
    for (const ir::Requirement& requirement : schedule_.kernel.program->requirements())
      if (requirement.kind != ir::Requirement::Kind::parameter_stride && !holds(requirement.constraint))
        return "the sizes cannot be bound: " + requirement.what;
    return {};
  }

  [[nodiscard]] bool is_in_walk() const {
    return std::ranges::any_of(where_, [](const auto& value) { return value.first.starts_with("walk"); });
  }
  [[nodiscard]] std::optional<std::int64_t> at(const std::string& name) const {
    const auto it = where_.find(name);
    return it == where_.end() ? std::nullopt : std::optional(it->second);
  }

  /// Returns the outer coordinates if all are named.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> row() const {
    std::vector<std::int64_t> row;
    for (int axis = 0; axis + 1 < schedule_.kernel.rank(); ++axis) {
      const auto coordinate = at(fmt::format("${}", axis));
      if (!coordinate) return std::nullopt;
      row.push_back(*coordinate);
    }
    return row;
  }
  [[nodiscard]] std::optional<std::int64_t> column() const {
    return at(fmt::format("${}", schedule_.kernel.rank() - 1));
  }

  /// Returns all events of executions of the grid of vectors with every strategy, if the schedule has such a grid.
  [[nodiscard]] Result<std::vector<Event>> grid_events() const {
    std::vector<Event> all;
    if (schedule_.grid() == nullptr) return all;
    for (const Execution& execution : executions()) {
      PADLOCK_TRY(Trace trace, interpret_grid(schedule_, sizes_, execution));
      std::ranges::move(trace.events, std::back_inserter(all));
    }
    return all;
  }

  /// Returns all events of executions of tasks with every strategy, shifted and peeled by these numbers of elements.
  [[nodiscard]] Result<std::vector<Event>> events(std::int64_t shift, std::int64_t peel) const {
    std::vector<Event> all;
    std::optional<std::pair<std::int64_t, std::int64_t>> rows;
    const Task whole = whole_launch(schedule_, sizes_);
    if (Int128{whole.row_last} * whole.column_last > kAllRowsElements && row()) rows = one_row();
    const bool too_many = Int128{rows ? 1 : whole.row_last} * whole.column_last > kMaxElements;
    if (too_many && row() && column()) return events_at(*column());
    for (Execution execution : executions()) {
      execution.shift = shift;
      execution.peel = peel;
      execution.rows = rows;
      PADLOCK_TRY(Trace trace, interpret(schedule_, sizes_, tasks(whole, rows), execution));
      std::ranges::move(trace.events, std::back_inserter(all));
    }
    return all;
  }

 private:
  /// One with each strategy.
  [[nodiscard]] std::vector<Execution> executions() const {
    std::vector<Execution> all;
    for (const LoopStrategyKind strategy :
         schedule_.is_for_gpu() ? std::span<const LoopStrategyKind>(kVectorStrategies) : kThreadStrategies)
      for (const bool reads_none : {false, true})
        if (!reads_none || schedule_.kernel.reads_by_data())
          all.push_back({.strategy = strategy, .reads_none = reads_none});
    return all;
  }

  /// Those of one element of sizes that are too large for all.
  [[nodiscard]] Result<std::vector<Event>> events_at(std::int64_t column) const {
    const auto [first, last] = one_row();
    const std::vector<Task> task = {{first, last, column, column + 1}};
    PADLOCK_TRY(Trace trace, interpret(schedule_, sizes_, task, {.rows = std::pair<std::int64_t, std::int64_t>(0, 0)}));
    return std::move(trace.events);
  }

  [[nodiscard]] Int128 value(Expr e) const { return ir::evaluate(exprs_, e, sizes_).value_or(0); }

  [[nodiscard]] bool holds(const ir::Constraint& c) const {
    const Int128 lhs = value(c.lhs);
    const Int128 rhs = value(c.rhs);
    switch (c.comparison) {
      case ir::Comparison::le:
        return lhs <= rhs;
      case ir::Comparison::lt:
        return lhs < rhs;
      case ir::Comparison::eq:
        return lhs == rhs;
      case ir::Comparison::ge:
        return lhs >= rhs;
      case ir::Comparison::gt:
        return lhs > rhs;
    }
    return false;
  }

  [[nodiscard]] std::pair<std::int64_t, std::int64_t> one_row() const {
    Int128 row = 0;
    for (std::size_t axis = 0; axis < row_axes(); ++axis)
      row = row * value(schedule_.kernel.extents[axis]) + (*this->row())[axis];
    return {static_cast<std::int64_t>(row), static_cast<std::int64_t>(row) + 1};
  }
  [[nodiscard]] std::size_t row_axes() const { return schedule_.kernel.extents.size() - 1; }

  [[nodiscard]] std::vector<Task> tasks(Task whole, std::optional<std::pair<std::int64_t, std::int64_t>> rows) const {
    if (rows) std::tie(whole.row_first, whole.row_last) = *rows;
    const auto first = at("column_first");
    const auto last = at("column_last");
    if (!first || !last) return {whole};
    std::vector<Task> tasks(3, whole);
    tasks[0].column_last = tasks[1].column_first = *first;
    tasks[1].column_last = tasks[2].column_first = *last;
    std::erase_if(tasks, [](const Task& task) { return task.column_first >= task.column_last; });
    return tasks;
  }

  const Schedule& schedule_;
  ir::ExprContext& exprs_;
  std::vector<std::int64_t> sizes_;
  std::map<std::string, std::int64_t> where_;
};

/// Returns whether the event is the refuted one, at its place. A fault of a launch has no place. A load's text names
/// what is read, and a store's what is written, in the prover's words.
bool is_of(const Event& event, const Obligation& refuted, const Example& example) {
  if (event.kind != refuted.kind) return false;
  if (refuted.found.violation.find("launched") != std::string::npos) return true;
  if (const auto row = example.row(); row && event.row != *row) return false;
  const bool same_text = event.text == refuted.found.violation;
  if (refuted.kind == ObligationKind::store || refuted.kind == ObligationKind::disjoint) return same_text;
  // A named lane fixes its own column, so the column coordinate is free. It is free in a walk, too: the proof takes any
  // turn of a walk for possible in any column.
  const bool same_column = example.at("lane") || example.is_in_walk() || event.column == example.column();
  return same_column && (same_text || refuted.kind != ObligationKind::load);
}

/// A task that writes outside its columns writes those of another task. That task writes them, too, or fails to by the
/// same bug; or the result ends there. Or the event names both.
bool is_anothers(const Event& event, const std::vector<Event>& all) {
  if (event.kind != ObligationKind::disjoint || !event.writers.empty()) return true;
  return std::ranges::any_of(all, [&](const Event& other) {
    if (other.row != event.row || other.column != event.column) return false;
    return other.kind == ObligationKind::store || other.kind == ObligationKind::cover ||
           (other.kind == ObligationKind::disjoint && other.text != event.text);
  });
}

}  // namespace

Result<std::vector<Schedule>> schedules_of(const ir::Program& program, std::string_view config, Mutation mutation) {
  const bool is_gpu = config.starts_with("map=");
  PADLOCK_TRY(const GpuConfig gpu, GpuConfig::parse(is_gpu ? config : "", GpuConfig{}));
  PADLOCK_TRY(const HostConfig host, HostConfig::parse(is_gpu ? "" : config, HostConfig{}));
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits_of(mutation)));
  std::vector<Schedule> schedules;
  for (Kernel& kernel : kernels)
    schedules.push_back(is_gpu ? schedule_for_gpu(std::move(kernel), gpu, edits_of(mutation))
                               : schedule_for_host(std::move(kernel), host, edits_of(mutation), {.masks = true}));
  return schedules;
}

std::string not_shown(const Schedule& schedule, const Obligation& refuted) {
  const Example example(schedule, refuted.found);
  if (std::string illegal = example.illegal(); !illegal.empty()) return illegal;
  const std::int64_t peel = example.at("peel").value_or(0);
  const Result<std::vector<Event>> events = example.events(example.at("shift").value_or(0), peel);
  if (!events) return events.error().message;
  if (std::ranges::any_of(
          *events, [&](const Event& event) { return is_of(event, refuted, example) && is_anothers(event, *events); }))
    return {};
  std::string seen;
  for (std::size_t i = 0; i < std::min<std::size_t>(events->size(), 4); ++i) {
    const Event& event = (*events)[i];
    seen += fmt::format("; {} at column {}: {}", name_of(event.kind), event.column.value_or(-1), event.text);
  }
  return fmt::format("not seen among {} events: {}{}", events->size(), to_string(refuted), seen);
}

std::string misdeed_at(const Schedule& schedule, const Counterexample& counterexample) {
  const Example example(schedule, counterexample);
  const std::int64_t shift = example.at("shift").value_or(0);
  const std::int64_t peel = example.at("peel").value_or(0);
  for (const auto& [s, p] : {std::pair(shift, peel), std::pair<std::int64_t, std::int64_t>(1, 3)}) {
    for (const Result<std::vector<Event>>& events : {example.events(s, p), example.grid_events()}) {
      if (!events) return events.error().message;
      if (!events->empty())
        return fmt::format("{} at column {}: {}", name_of(events->front().kind), events->front().column.value_or(-1),
                           events->front().text);
    }
  }
  return {};
}

std::string unproved(const Proof& proof) {
  for (const Obligation& obligation : proof.obligations)
    if (obligation.verdict != Verdict::proved && obligation.verdict != Verdict::guarded) return to_string(obligation);
  return {};
}

}  // namespace padlock::compiler
