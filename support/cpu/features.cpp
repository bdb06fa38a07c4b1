#include "support/cpu/features.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#if defined(__x86_64__)
#include <cpuid.h>

#include "support/cpu/x86_features.h"
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include "support/cpu/aarch64_features.h"
#endif

namespace padlock {

#if defined(__x86_64__)

namespace {

using x86::Feature;

std::uint64_t kept_registers() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kOsxsave = 1U << 27;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsxsave) == 0) return 0;
  unsigned low = 0, high = 0;
  // xgetbv as bytes, so that this file needs no compiler option.
  asm volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool is_there(const Feature& feature) {
  std::array<unsigned, 4> registers{};
  if (__get_cpuid_count(feature.leaf, feature.subleaf, &registers[0], &registers[1], &registers[2], &registers[3]) == 0)
    return false;
  if (((registers[static_cast<std::size_t>(feature.reg)] >> feature.bit) & 1U) == 0) return false;
  const auto needed = static_cast<std::uint64_t>(feature.kept);
  return needed == 0 || (kept_registers() & needed) == needed;
}

unsigned avx10_version() {
  std::array<unsigned, 4> registers{};
  if (!is_there(x86::kAvx10) ||
      __get_cpuid_count(0x24, 0, &registers[0], &registers[1], &registers[2], &registers[3]) == 0)
    return 0;
  return registers[1] & 0xFFU;
}

}  // namespace

std::optional<bool> cpu_has(std::string_view name) {
  for (unsigned version = 1; const std::string_view known : x86::kAvx10Versions) {
    if (name == known) return avx10_version() >= version;
    ++version;
  }
  const auto* const found = std::ranges::find(x86::kFeatures, name, &Feature::name);
  if (found == x86::kFeatures.end()) return std::nullopt;
  return is_there(*found);
}

#elif defined(__aarch64__)

std::optional<bool> cpu_has(std::string_view name) {
  const auto* const found = std::ranges::find(aarch64::kFeatures, name, &aarch64::Feature::name);
  if (found == aarch64::kFeatures.end()) return std::nullopt;
  return (::getauxval(AT_HWCAP) & found->hwcap) == found->hwcap &&
         (::getauxval(AT_HWCAP2) & found->hwcap2) == found->hwcap2;
}

#else

std::optional<bool> cpu_has(std::string_view) { return std::nullopt; }

#endif

Status check_cpu(std::span<const std::string_view> features) {
  std::vector<std::string_view> missing;
  for (const std::string_view feature : features)
    if (!cpu_has(feature).value_or(false)) missing.push_back(feature);
  if (missing.empty()) return {};
  return unavailable(fmt::format("the code needs {}, which this CPU lacks", fmt::join(missing, ", ")));
}

}  // namespace padlock
