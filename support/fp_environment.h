#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace padlock {

/// During its lifetime the calling thread has the IEEE default environment: round to nearest even, no flush to zero, no
/// denormals-are-zero, exceptions masked. Then restores the caller's, whose DAZ or FTZ would change results.
class DefaultFpEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFpEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~DefaultFpEnvironment() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  DefaultFpEnvironment() : saved_(get()) { set(0); }
  ~DefaultFpEnvironment() { set(saved_); }
#endif
  DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
  DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#elif defined(__aarch64__)
  static std::uint64_t get() {
    std::uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  // The clobber keeps what reads or writes memory on its side. Its callers compute in functions of their own.
  static void set(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
  std::uint64_t saved_;
#endif
};

}  // namespace padlock
