#pragma once

#include <cstdint>
#include <span>

#include "compiler/targets/cost.h"
#include "tuner/cache/regime.h"

namespace padlock::tuner {

/// Machine is what the model knows of a machine. Its speeds are round numbers of the kind of machine, not this one's:
/// the model compares configs of one program, and only such as differ much.
struct Machine {
  int threads = 1;                    ///< of the host's pool
  std::int64_t cache_bytes = 0;       ///< of the last cache
  std::int64_t core_cache_bytes = 0;  ///< of a core's own; 0: unknown
  int multiprocessors = 0;            ///< of a GPU; 0: the host
};

/// About how many nanoseconds a launch of these kernels takes. On the host: bytes and vectors, whichever takes longer,
/// by how evenly tasks fill the machine, and each launch and task. On a GPU: bytes, at the rate that those on their way
/// allow, and instructions, whichever takes longer, and trips to memory. Bytes and trips cost less where tensors are
/// found in a cache; of a regime of both it is the mean. `task_bytes`: output of one task on the host.
[[nodiscard]] double predicted_ns(std::span<const compiler::KernelCost> kernels, std::int64_t task_bytes,
                                  const Machine& machine, Regime regime);
/// Returns whether a host's kernels store past the caches.
[[nodiscard]] bool stores_past_caches(std::span<const compiler::KernelCost> kernels, const Machine& machine);

}  // namespace padlock::tuner
