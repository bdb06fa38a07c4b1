#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "runtime/host/allocation.h"
#include "support/error.h"

namespace padlock::runtime {

/// HostMemory allocates for the devices of the host. It asks the system for the available memory at the first
/// allocation, and again after everything was freed (MemoryBudget says why not each time). Thread-safe.
class HostMemory {
 public:
  [[nodiscard]] Result<Allocation> allocate(std::int64_t bytes, const std::string& what);
  /// Records that an allocation was freed.
  void give_back();

 private:
  std::mutex mutex_;
  int live_ = 0;                        // guarded by mutex_
  std::optional<MemoryBudget> budget_;  // set while an allocation lives; guarded by mutex_
};

}  // namespace padlock::runtime
