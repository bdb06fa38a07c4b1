#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

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

/// PartsOf divides `count` things into parts of equal size; the last may be smaller.
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

/// Returns make(thing) for each thing, in order. A thread takes `part` neighbours at a time.
template <class T, class Make>
auto map_in_parallel(std::span<T> things, std::int64_t part, const Make& make) {
  std::vector<std::remove_cvref_t<std::invoke_result_t<const Make&, T&>>> made(things.size());
  const PartsOf parts{.all = std::ssize(things), .part = part};
  in_parallel(parts.count(), [&](std::int64_t i) {
    auto to = made.begin() + parts.begin(i);
    for (T& thing : parts.of(things, i)) *to++ = std::invoke(make, thing);
  });
  return made;
}

}  // namespace padlock::runtime
