#include "tests/allocation_failure.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace padlock::testing {
namespace {

thread_local long left = 0;  // until the failure; 0: none is to come
thread_local bool failed = false;
std::atomic<long> live = 0;

void* allocate(std::size_t bytes) {
  if (left > 0 && --left == 0) {
    failed = true;
    return nullptr;
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory != nullptr) ++live;
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) --live;
  std::free(memory);
}

}  // namespace

void fail_allocation(long which) {
  left = which;
  failed = false;
}

bool end_allocation_failure() {
  left = 0;
  return failed;
}

long live_allocations() { return live; }

}  // namespace padlock::testing

void* operator new(std::size_t bytes) {
  if (void* const memory = padlock::testing::allocate(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return padlock::testing::allocate(bytes); }
void operator delete(void* memory) noexcept { padlock::testing::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { padlock::testing::release(memory); }
