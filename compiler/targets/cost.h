#pragma once

#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "ir/binding/binding.h"

namespace padlock::compiler {

/// Counts of the work of one kernel at one binding, made without running it. They choose which configs are worth
/// measuring, never the config itself.
struct KernelCost {
  double read_bytes = 0;   ///< bytes of the inputs, each once
  double write_bytes = 0;  ///< bytes of the results
  // For the host; 0 on a GPU:
  double chunks = 0;                ///< vectors, or elements of loops without vectors, of all threads together
  bool nontemporal = false;         ///< whole cache lines may go past the caches
  bool always_nontemporal = false;  ///< for any size of the output
  // For a GPU; 0 on the host:
  double blocks = 0;           ///< blocks of a launch
  double resident_blocks = 0;  ///< blocks that a multiprocessor holds at once, by registers and threads
  double flight_bytes = 0;     ///< bytes that a block has on their way at once
  double trips = 0;            ///< accesses to memory that a thread makes one after the other
  double instructions = 0;     ///< instructions of all warps together
};

/// Preconditions of both: the schedule is of the binding's program. Returns whether the binding has a plan.
[[nodiscard]] bool makes_plan(const Schedule& schedule, const ir::Binding& binding);
[[nodiscard]] KernelCost cost_of(const Schedule& schedule, const ir::Binding& binding);

}  // namespace padlock::compiler
