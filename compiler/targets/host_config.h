#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/vector_permutes.h"
#include "support/error.h"

namespace padlock::compiler {

class PassEdits;
class PassLog;

/// One point of the host's search space. Data, not code: a config may be slow, never wrong.
struct HostConfig {
  int vector_bytes = 32;                   ///< 16, 32 or 64: bytes of the widest element type that one vector holds
  int unroll = 2;                          ///< 1, 2 or 4 vectors in one trip of the main loop
  bool split = true;                       ///< split the innermost axis at pads, so that its interior has no predicate
  StoreKind store = StoreKind::automatic;  ///< stores of the main loop; first and last vectors are always plain
  bool plan = true;                        ///< take short rows and small planes by a plan made at binding
  int task_kib = 256;                      ///< output KiB that one task of the thread pool covers: 64, 256 or 1024

  friend bool operator==(const HostConfig&, const HostConfig&) = default;

  /// Reads "vector_bytes=32,unroll=2,split=1,store=plain,plan=1,task_kib=256"; keys in any order, a key that is missing
  /// keeps its value in `base`. Errors: invalid_argument, with the key, its values and the value found.
  [[nodiscard]] static Result<HostConfig> parse(std::string_view text, const HostConfig& base);
  /// Prints all keys, in declaration order; parse reads them back.
  [[nodiscard]] std::string to_string() const;
  /// Lists the search space, in a fixed order.
  [[nodiscard]] static std::vector<HostConfig> all();
};

/// `permutes`: of the target; no config changes it.
[[nodiscard]] Schedule schedule_for_host(Kernel kernel, const HostConfig& config, const PassEdits* edits = nullptr,
                                         const VectorPermutes& permutes = {}, PassLog* log = nullptr);

}  // namespace padlock::compiler
