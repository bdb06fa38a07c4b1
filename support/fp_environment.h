#pragma once

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
#endif
  DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
  DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#endif
};

}  // namespace padlock
