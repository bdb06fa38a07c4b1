#pragma once

#include <cstdint>
#include <span>

#include "compiler/targets/cost.h"
#include "tuner/cache/regime.h"

namespace padlock::tuner {

/// Machine holds the model's facts about a machine. Speeds are round numbers for the kind of machine: the model only
/// compares configs of one program that differ much.
struct Machine {
  int threads = 1;                    ///< threads of the host's pool
  std::int64_t cache_bytes = 0;       ///< bytes of the last cache
  std::int64_t core_cache_bytes = 0;  ///< bytes of a core's own cache; 0: unknown
  int multiprocessors = 0;            ///< multiprocessors of a GPU; 0: the host
};

/// Predicts the nanoseconds of a launch of these kernels. Host: the longer of bytes and vectors, scaled by how evenly
/// tasks fill the machine, plus each launch and task. GPU: the longer of bytes, at the rate that the bytes under way
/// allow, and instructions, plus trips to memory. Bytes and trips cost less for tensors in a cache; regime `both` takes
/// the mean. `task_bytes`: output of one task on the host.
[[nodiscard]] double predicted_ns(std::span<const compiler::KernelCost> kernels, std::int64_t task_bytes,
                                  const Machine& machine, Regime regime);
/// Returns whether a host's kernels store past the caches.
[[nodiscard]] bool stores_past_caches(std::span<const compiler::KernelCost> kernels, const Machine& machine);

}  // namespace padlock::tuner
