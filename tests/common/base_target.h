#pragma once

// The level that every CPU of an architecture has, and the one that code for most of them is made for.
namespace padlock::testing {

#if defined(__aarch64__)
inline constexpr const char* kBaseTarget = "host:armv8-a";    ///< of this machine
inline constexpr const char* kForeignTarget = "host:x86-64";  ///< of the other architecture
inline constexpr const char* kUsualTarget = "host:armv8-a";
inline constexpr const char* kBaseFeature = "neon";  ///< that this machine has
inline constexpr const char *kArchitecture = "AArch64", *kForeignArchitecture = "x86-64";
#else
inline constexpr const char* kBaseTarget = "host:x86-64";
inline constexpr const char* kForeignTarget = "host:armv8-a";
inline constexpr const char* kUsualTarget = "host:x86-64-v3";
inline constexpr const char* kBaseFeature = "sse2";
inline constexpr const char *kArchitecture = "x86-64", *kForeignArchitecture = "AArch64";
#endif

}  // namespace padlock::testing
