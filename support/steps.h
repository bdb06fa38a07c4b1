#pragma once

#include <cstdint>

// Cost counted, not timed: what a pass does for a text is the same on every machine, and so is where it ends. A step is
// about as much work as looking at one term of an expression, some 10 to 30 ns.
namespace padlock {

namespace detail {
/// A clock that ticks in steps instead of time: only differences of it are looked at, so that no result depends on what
/// else the thread has done.
inline constinit thread_local std::int64_t t_steps = 0;
}  // namespace detail

/// Counts work of the calling thread.
inline void take_steps(std::size_t count) { detail::t_steps += static_cast<std::int64_t>(count); }
/// Returns the steps that the calling thread has ever taken.
[[nodiscard]] inline std::int64_t steps_taken() { return detail::t_steps; }

/// UnchargedSteps takes back, when it ends, the steps that its thread took while it lived: those of work that serves
/// all programs, for which the first that needs it shall not pay. Such work has a limit of its own.
class UnchargedSteps {
 public:
  UnchargedSteps() : before_(steps_taken()) {}
  ~UnchargedSteps() { detail::t_steps = before_; }
  UnchargedSteps(const UnchargedSteps&) = delete;
  UnchargedSteps& operator=(const UnchargedSteps&) = delete;

 private:
  std::int64_t before_;
};

/// The steps that one piece of work may take, from its construction on, all in the thread that made it.
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
