#pragma once

#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "ir/binding/binding.h"

namespace padlock::compiler {

/// Counts of what one kernel does at one binding, made without running it: for choosing which configs are worth
/// measuring, never for choosing one.
struct KernelCost {
  double read_bytes = 0;   ///< of the inputs, once each
  double write_bytes = 0;  ///< of the results
  // For the host; 0 on a GPU:
  double chunks = 0;                ///< vectors, or elements where there are none, that all threads take together
  bool nontemporal = false;         ///< whole cache lines may go past the caches
  bool always_nontemporal = false;  ///< whatever the output's size
  // For a GPU; 0 on the host:
  double blocks = 0;           ///< of a launch
  double resident_blocks = 0;  ///< that a multiprocessor holds at once, as far as registers and threads allow
  double flight_bytes = 0;     ///< that a block has on their way at once
  double trips = 0;            ///< to memory that a thread makes one after the other
  double instructions = 0;     ///< of all warps together
};

/// The schedule is of the binding's program.
[[nodiscard]] KernelCost cost_of(const Schedule& schedule, const ir::Binding& binding);

}  // namespace padlock::compiler
