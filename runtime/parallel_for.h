#pragma once

#include <cstdint>

namespace padlock::runtime {

/// One index of a parallel loop.
using ParallelBody = void (*)(void* state, std::int64_t index);

/// How a loop is spread over threads: `run(user, count, body, state)` calls body(state, i) once for every i in
/// [0, count), from any threads, and returns when all calls have. A caller with threads of its own gives its own.
struct ParallelFor {
  void (*run)(void* user, std::int64_t count, ParallelBody body, void* state) = nullptr;
  void* user = nullptr;  // borrowed
  int threads = 1;       // how many run at a time, the caller's included; for choosing task sizes
};

}  // namespace padlock::runtime
