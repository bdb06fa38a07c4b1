#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/host/thread_pool.h"

namespace padlock::runtime {

/// Calls body(i) once for each i in [0, count), on as many threads as this process may run on.
template <class Body>
void in_parallel(std::int64_t count, const Body& body) {
  if (count <= 0) return;
  ThreadPool pool(count == 1 ? 1 : 0);
  pool.parallel_for(
      count, [](void* state, std::int64_t i) { (*static_cast<const Body*>(state))(i); }, const_cast<Body*>(&body));
}

/// PartsOf divides so many things into parts of one size, but for the last.
struct PartsOf {
  std::int64_t all = 0, part = 1;

  [[nodiscard]] std::int64_t count() const { return all / part + (all % part == 0 ? 0 : 1); }
  [[nodiscard]] std::int64_t begin(std::int64_t index) const { return index * part; }
  [[nodiscard]] std::int64_t size(std::int64_t index) const { return std::min(part, all - begin(index)); }
  template <class T>
  [[nodiscard]] std::span<T> of(std::span<T> things, std::int64_t index) const {
    return things.subspan(static_cast<std::size_t>(begin(index)), static_cast<std::size_t>(size(index)));
  }
};

}  // namespace padlock::runtime
