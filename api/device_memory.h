#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/device.h"
#include "api/memory.h"
#include "support/error.h"

namespace padlock::api {

/// What the host's memory is allocated from: what the process may use is asked of the system when the first memory is
/// allocated, and again once all was given back (MemoryBudget says why not each time). Thread-safe.
class SharedBudget {
 public:
  [[nodiscard]] Result<Allocation> allocate(std::int64_t bytes, const std::string& what);
  /// Of an allocation that there was.
  void give_back();

 private:
  std::mutex mutex_;
  int live_ = 0;                        // guarded by mutex_
  std::optional<MemoryBudget> budget_;  // while something is live; guarded by mutex_
};

/// Memory of the host or of a GPU, given back when it is dropped; the context must outlive that of a GPU. Movable.
class DeviceMemory {
 public:
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  /// Null when empty; a GPU's address is not to be followed on the host.
  [[nodiscard]] void* data() const;
  [[nodiscard]] std::int64_t bytes() const;
  /// Copies and waits. Errors: out_of_range; invalid_argument for memory of two GPUs; else as the driver says.
  [[nodiscard]] static Status copy(const DeviceMemory& to, std::int64_t to_offset, const DeviceMemory& from,
                                   std::int64_t from_offset, std::int64_t bytes);

 private:
  friend class Context;
  struct State;
  explicit DeviceMemory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace padlock::api
