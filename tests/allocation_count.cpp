#include "tests/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace padlock::testing {
namespace {

std::atomic<long>& count() {
  static std::atomic<long> value = 0;
  return value;
}

void* allocate(std::size_t bytes) {
  ++count();
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

long allocation_count() { return count(); }

}  // namespace padlock::testing

void* operator new(std::size_t bytes) {
  if (void* const memory = padlock::testing::allocate(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return padlock::testing::allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
