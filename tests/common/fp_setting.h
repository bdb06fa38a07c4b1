#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// The register by which a thread sets rounding and denormals: MXCSR, or FPCR.
namespace padlock::testing {

#if defined(__x86_64__)

inline std::uint64_t fp_setting() { return _mm_getcsr() & 0xFFC0U; }  // without the flags that operations raise
inline void set_fp_setting(std::uint64_t setting) { _mm_setcsr(static_cast<unsigned>(setting)); }
/// Flushes denormals of operands and results, and rounds toward zero.
inline constexpr std::uint64_t kHostileFpSetting = 0x1F80 | 0x8040 | 0x6000;

#elif defined(__aarch64__)

inline std::uint64_t fp_setting() {
  std::uint64_t setting = 0;
  asm volatile("mrs %0, fpcr" : "=r"(setting));
  return setting;
}
inline void set_fp_setting(std::uint64_t setting) { asm volatile("msr fpcr, %0" : : "r"(setting) : "memory"); }
/// Flushes denormals, those of f16 too, rounds toward zero, and makes the default NaN of each.
inline constexpr std::uint64_t kHostileFpSetting = 1U << 24 | 1U << 19 | 3U << 22 | 1U << 25;

#endif

}  // namespace padlock::testing
