#pragma once

namespace padlock::compiler {

/// Counts how often the passes ran. A caller's own.
struct PassCounts {
  int lowered = 0;    ///< programs
  int scheduled = 0;  ///< schedules of kernels, of each config
  int proved = 0;     ///< schedules
};

}  // namespace padlock::compiler
