#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace padlock {

/// Architectures of CPUs that kernels are made for.
enum class Architecture : std::uint8_t { x86_64, aarch64 };

/// An architecture's names and numbers in files and messages.
struct ArchitectureInfo {
  Architecture architecture;
  std::string_view name;
  std::string_view machine;  ///< the system's name (uname)
  std::uint16_t elf_number;  ///< ELF's e_machine
};

inline constexpr auto kArchitectures = std::to_array<ArchitectureInfo>({
    {Architecture::x86_64, "x86-64", "x86_64", 62},
    {Architecture::aarch64, "AArch64", "aarch64", 183},
});

[[nodiscard]] constexpr const ArchitectureInfo& info_of(Architecture architecture) {
  return kArchitectures[static_cast<std::size_t>(architecture)];
}

/// The architecture of this process; absent for one that no kernels are made for.
#if defined(__x86_64__)
inline constexpr std::optional<Architecture> kOwnArchitecture = Architecture::x86_64;
#elif defined(__aarch64__)
inline constexpr std::optional<Architecture> kOwnArchitecture = Architecture::aarch64;
#else
inline constexpr std::optional<Architecture> kOwnArchitecture = std::nullopt;
#endif

}  // namespace padlock
