#include "tests/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace padlock::testing {
namespace {

constinit std::atomic<long> allocated = 0, freed = 0;
constinit thread_local long until_failure = -1;

void* allocate(std::size_t bytes) {
  if (until_failure >= 0 && until_failure-- == 0) return nullptr;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory != nullptr) ++allocated;
  return memory;
}

void give_back(void* memory) {
  if (memory != nullptr) ++freed;
  std::free(memory);
}

}  // namespace

long allocation_count() { return allocated; }
long live_allocations() { return allocated - freed; }
void fail_allocation(long index) { until_failure = index; }
bool allocation_failed() { return until_failure == -1; }

}  // namespace padlock::testing

void* operator new(std::size_t bytes) {
  if (void* const memory = padlock::testing::allocate(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return padlock::testing::allocate(bytes); }
void operator delete(void* memory) noexcept { padlock::testing::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { padlock::testing::give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { padlock::testing::give_back(memory); }
