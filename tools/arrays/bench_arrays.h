#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/failure.h"

// The arrays of a timed program, and those of the plain copy beside it.
namespace padlock::tools {

/// Arguments for launch after launch of a call on the host: copies of the inputs, and results, each aligned to a cache
/// line. If all sets together exceed a cache, using them in turn makes each launch find its data outside that cache.
class ArgumentSets {
 public:
  /// Creates sets of at least `least_bytes` together: at least one, at most kMostSets.
  [[nodiscard]] static lib::Expected<ArgumentSets> create(const lib::Context& context, const lib::Call& call,
                                                          const std::vector<lib::Memory>& inputs,
                                                          std::int64_t least_bytes);

  /// Launches the call on the next set. The first follows the last.
  [[nodiscard]] lib::Status launch(const lib::Call& call);

  static constexpr std::size_t kMostSets = std::size_t{1} << 16;

 private:
  lib::Expected<std::vector<std::byte*>> add(const lib::Context& context, const lib::TensorInfo& tensor,
                                             const char* role, const lib::Memory* data);

  std::size_t count_ = 1;
  std::size_t current_ = 0;
  std::vector<lib::Memory> memory_;                // one for each tensor, with all sets
  std::vector<std::vector<const void*>> sources_;  // one entry for each set
  std::vector<std::vector<void*>> targets_;        // one entry for each set
};

/// A plain copy on a program's device, to compare the program with: memcpy on the host, the driver's copy on a GPU.
class PlainCopy {
 public:
  /// Copies `bytes` / 2, so that reads and writes together are `bytes`. On the host it uses pairs of arrays in turn, of
  /// at least `least_bytes` together; at least one pair.
  [[nodiscard]] static lib::Expected<PlainCopy> create(const lib::Context& context, const std::string& device,
                                                       std::int64_t bytes, std::int64_t least_bytes);

  /// Copies, and waits for the end.
  [[nodiscard]] lib::Status run();

 private:
  std::size_t bytes_ = 0;   // of one copy
  std::size_t stride_ = 0;  // from one array to the next
  std::size_t count_ = 1;
  std::size_t next_ = 0;
  bool on_gpu_ = false;
  lib::Memory from_, to_;
};

}  // namespace padlock::tools
