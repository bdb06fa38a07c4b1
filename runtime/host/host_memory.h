#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "runtime/host/allocation.h"
#include "support/error.h"

namespace padlock::runtime {

/// HostMemory allocates for the devices of the host: what the process may use is asked of the system when the first
/// memory is allocated, and again once all was given back (MemoryBudget says why not each time). Thread-safe.
class HostMemory {
 public:
  [[nodiscard]] Result<Allocation> allocate(std::int64_t bytes, const std::string& what);
  /// Records that an allocation was given back.
  void give_back();

 private:
  std::mutex mutex_;
  int live_ = 0;                        // guarded by mutex_
  std::optional<MemoryBudget> budget_;  // while something is live; guarded by mutex_
};

}  // namespace padlock::runtime
