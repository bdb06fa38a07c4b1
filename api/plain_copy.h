#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "api/compiled_program.h"
#include "api/memory.h"
#include "support/error.h"

namespace padlock::api {

/// A plain copy on a program's device, to compare the program with: memcpy in the host's memory, on a GPU the driver's
/// copy. Not thread-safe. The program's context must outlive it.
class PlainCopy {
 public:
  /// Copies half of `bytes`, so that as many are read and written together, from one array to another. In the host's
  /// memory it takes pairs of arrays in turn, as many as have `least_bytes` together; one at least. Errors:
  /// resource_exhausted, and what a GPU's driver says.
  [[nodiscard]] static Result<PlainCopy> create(const BoundProgram& program, std::int64_t bytes,
                                                std::int64_t least_bytes, MemoryBudget& memory);
  PlainCopy(PlainCopy&& other) noexcept;
  PlainCopy& operator=(PlainCopy&& other) noexcept;
  ~PlainCopy();

  /// Copies and waits. Errors: as BoundProgram::synchronize.
  [[nodiscard]] Status run();

 private:
  struct State;
  explicit PlainCopy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace padlock::api
