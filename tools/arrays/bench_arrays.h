#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/failure.h"

// Arrays that a program is timed on, and arrays that it is compared with.
namespace padlock::tools {

/// Arguments for launch after launch of a call on the host: copies of the inputs, and results, each at a multiple of a
/// cache line. Used in turn, sets that are together larger than a cache make each launch find its data out of it.
class ArgumentSets {
 public:
  /// Creates as many sets as have `least_bytes` together: at least one, at most kMostSets.
  [[nodiscard]] static lib::Expected<ArgumentSets> create(const lib::Context& context, const lib::Call& call,
                                                          const std::vector<lib::Memory>& inputs,
                                                          std::int64_t least_bytes);

  /// Launches the call on the next set; the first after the last.
  [[nodiscard]] lib::Status launch(const lib::Call& call);

  static constexpr std::size_t kMostSets = std::size_t{1} << 16;

 private:
  lib::Expected<std::vector<std::byte*>> add(const lib::Context& context, const lib::TensorInfo& tensor,
                                             const char* role, const lib::Memory* data);

  std::size_t count_ = 1;
  std::size_t current_ = 0;
  std::vector<lib::Memory> memory_;                // one a tensor, of all sets
  std::vector<std::vector<const void*>> sources_;  // by set
  std::vector<std::vector<void*>> targets_;        // by set
};

/// A plain copy on a program's device, to compare the program with: memcpy in the host's memory, on a GPU the driver's.
class PlainCopy {
 public:
  /// Copies half of `bytes`, so that as many are read and written together, from one array to another. In the host's
  /// memory it takes pairs of arrays in turn, as many as have `least_bytes` together; one at least.
  [[nodiscard]] static lib::Expected<PlainCopy> create(const lib::Context& context, const std::string& device,
                                                       std::int64_t bytes, std::int64_t least_bytes);

  /// Copies and waits.
  [[nodiscard]] lib::Status run();

 private:
  std::size_t bytes_ = 0;   // of one copy
  std::size_t stride_ = 0;  // between arrays
  std::size_t count_ = 1;
  std::size_t next_ = 0;
  bool on_gpu_ = false;
  lib::Memory from_, to_;
};

}  // namespace padlock::tools
