#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/host/allocation.h"
#include "session/launch/compiled_program.h"
#include "support/error.h"

namespace padlock::bench {

/// Arguments for launch after launch of a bound program, for measuring on the host's memory: copies of the inputs, and
/// results, each at a multiple of a cache line. Used in turn, sets that are together larger than a cache make each
/// launch find its data out of it. Not thread-safe.
class ArgumentSets {
 public:
  /// Creates as many sets as have `least_bytes` together: at least one, at most kMostSets. `inputs` are copied into
  /// each; none are given: bytes of 1. Errors: resource_exhausted, naming the array.
  [[nodiscard]] static Result<ArgumentSets> create(const session::BoundProgram& program,
                                                   std::span<const runtime::UserBuffer> inputs,
                                                   std::int64_t least_bytes, runtime::MemoryBudget& memory);

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Goes on to the next set; the first after the last.
  void advance() { current_ = (current_ + 1) % count_; }
  /// The buffers of the current set, borrowed; `scalars` as given.
  [[nodiscard]] session::LaunchArguments arguments(std::span<const std::uint64_t> scalars = {}) const;

  static constexpr std::size_t kMostSets = std::size_t{1} << 16;

 private:
  ArgumentSets(std::size_t inputs, std::size_t results, std::size_t count)
      : inputs_(inputs), results_(results), count_(count) {}
  Status add(const session::TensorInfo& tensor, const char* role, const runtime::UserBuffer* data,
             runtime::MemoryBudget& memory);

  std::size_t inputs_;   // of one set
  std::size_t results_;  // of one set
  std::size_t count_;
  std::size_t current_ = 0;
  std::vector<runtime::Allocation> allocations_;  // one a tensor, of all sets
  std::vector<runtime::UserBuffer> buffers_;  // tensor by tensor while they are added; then set by set: inputs, results
};

/// memcpy, to compare a program with: of half of some number of bytes, so that as many are read and written together,
/// from one array to another. It takes pairs of arrays in turn. Not thread-safe.
class PlainCopy {
 public:
  /// Takes as many pairs as have `least_bytes` together; one at least. Error: resource_exhausted.
  [[nodiscard]] static Result<PlainCopy> create(std::int64_t bytes, std::int64_t least_bytes,
                                                runtime::MemoryBudget& memory);

  void run();

 private:
  PlainCopy() = default;

  std::size_t bytes_ = 0;   // of one copy
  std::size_t stride_ = 0;  // between arrays
  std::size_t count_ = 1;
  std::size_t next_ = 0;
  runtime::Allocation from_, to_;
};

}  // namespace padlock::bench
