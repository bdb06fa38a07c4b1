#pragma once

#include <cstdint>

// Cost in steps, not in time: a pass takes the same number of steps for a text on every machine, and stops at the same
// place. A step is about as much work as one look at a term of an expression, 10 to 30 ns.
namespace padlock {

namespace detail {
/// The steps that this thread has ever taken. Only differences are used, so no result depends on the thread's earlier
/// work.
inline constinit thread_local std::int64_t t_steps = 0;
}  // namespace detail

/// Counts work of the calling thread.
inline void take_steps(std::size_t count) { detail::t_steps += static_cast<std::int64_t>(count); }
/// Returns the steps that the calling thread has ever taken.
[[nodiscard]] inline std::int64_t steps_taken() { return detail::t_steps; }

/// Takes back, at its destruction, the steps of its thread during its lifetime. They belong to work for all programs,
/// which the first program must not pay for. Such work has a limit of its own.
class UnchargedSteps {
 public:
  UnchargedSteps() : before_(steps_taken()) {}
  ~UnchargedSteps() { detail::t_steps = before_; }
  UnchargedSteps(const UnchargedSteps&) = delete;
  UnchargedSteps& operator=(const UnchargedSteps&) = delete;

 private:
  std::int64_t before_;
};

/// The steps that one piece of work may take from the budget's construction on, in the thread that made it.
class StepBudget {
 public:
  explicit StepBudget(std::int64_t steps) : first_(steps_taken()), steps_(steps) {}
  [[nodiscard]] std::int64_t taken() const { return steps_taken() - first_; }
  [[nodiscard]] std::int64_t left() const { return steps_ - taken(); }
  [[nodiscard]] bool is_used_up() const { return left() < 0; }
  [[nodiscard]] std::int64_t limit() const { return steps_; }
  void grant(std::int64_t steps) { steps_ += steps; }

 private:
  std::int64_t first_, steps_;
};

}  // namespace padlock
