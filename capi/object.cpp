#include "capi/object.h"

#include <cstdlib>

namespace padlock::capi {

padlock_allocator standard_allocator() {
  return {.user = nullptr,
          .allocate = [](void*, std::size_t bytes, std::size_t alignment) -> void* {
            if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
            return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
          },
          .release = [](void*, void* memory, std::size_t, std::size_t) { std::free(memory); }};
}

void* Block::allocate() const {
  void* const memory = allocator.allocate(allocator.user, bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace padlock::capi
