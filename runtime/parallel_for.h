#pragma once

#include <cstdint>

namespace padlock::runtime {

/// One index of a parallel loop.
using ParallelBody = void (*)(void* state, std::int64_t index);

/// Spreads a loop over threads: `run(user, count, body, state)` calls body(state, i) once for every i in [0, count),
/// from any threads, and returns after all calls. A caller with its own threads passes its own.
struct ParallelFor {
  void (*run)(void* user, std::int64_t count, ParallelBody body, void* state) = nullptr;
  void* user = nullptr;  // borrowed
  int threads = 1;       // threads that run at once, including the caller's; for choosing task sizes
};

}  // namespace padlock::runtime
