#pragma once

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PADLOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PADLOCK_SANITIZED 1
#endif
#endif
#ifndef PADLOCK_SANITIZED
#define PADLOCK_SANITIZED 0
#endif

namespace padlock::fuzz {

/// Sanitizers slow code down by about this factor.
inline constexpr double kSlowdown = PADLOCK_SANITIZED ? 8 : 1;

/// Processor time, so that a busy machine fails no test.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace padlock::fuzz
