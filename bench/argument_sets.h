#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/compiled_program.h"
#include "api/memory.h"
#include "support/error.h"

namespace padlock::bench {

/// Arguments for launch after launch of a bound program, for measuring on the host's memory: copies of the inputs, and
/// results, each at a multiple of a cache line. Used in turn, sets that are together larger than a cache make each
/// launch find its data out of it. Not thread-safe.
class ArgumentSets {
 public:
  /// As many sets as have `least_bytes` together: at least one, at most kMostSets. `inputs` are copied into each; none
  /// are given: bytes of 1. Errors: resource_exhausted, naming the array.
  [[nodiscard]] static Result<ArgumentSets> create(const api::BoundProgram& program,
                                                   std::span<const api::UserBuffer> inputs, std::int64_t least_bytes,
                                                   api::MemoryBudget& memory);

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Goes on to the next set; the first after the last.
  void advance() { current_ = (current_ + 1) % count_; }
  /// The buffers of the current set, borrowed; `scalars` as given.
  [[nodiscard]] api::LaunchArguments arguments(std::span<const std::uint64_t> scalars = {}) const;

  static constexpr std::size_t kMostSets = std::size_t{1} << 16;

 private:
  ArgumentSets(std::size_t inputs, std::size_t results, std::size_t count)
      : inputs_(inputs), results_(results), count_(count) {}
  Status add(const api::TensorInfo& tensor, const char* role, const api::UserBuffer* data, api::MemoryBudget& memory);

  std::size_t inputs_;   // of one set
  std::size_t results_;  // of one set
  std::size_t count_;
  std::size_t current_ = 0;
  std::vector<api::Allocation> allocations_;  // one a tensor, of all sets
  std::vector<api::UserBuffer> buffers_;      // tensor by tensor while they are added; then set by set: inputs, results
};

/// memcpy, to compare a program with: of half of some number of bytes, so that as many are read and written together,
/// from one array to another. It takes pairs of arrays in turn. Not thread-safe.
class PlainCopy {
 public:
  /// Takes as many pairs as have `least_bytes` together; one at least. Error: resource_exhausted.
  [[nodiscard]] static Result<PlainCopy> create(std::int64_t bytes, std::int64_t least_bytes,
                                                api::MemoryBudget& memory);

  void run();

 private:
  PlainCopy() = default;

  std::size_t bytes_ = 0;   // of one copy
  std::size_t stride_ = 0;  // between arrays
  std::size_t count_ = 1;
  std::size_t next_ = 0;
  api::Allocation from_, to_;
};

}  // namespace padlock::bench
