#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "support/cpu/architecture.h"
#include "support/error.h"

namespace padlock::compiler {

inline constexpr std::string_view kHostPrefix = "host:";

/// A level: what all CPUs of an architecture have from some year on.
struct TargetLevel {
  std::string_view name;  ///< of the target "host:NAME"
  Architecture architecture;
  std::string_view cpu;          ///< LLVM's name of a CPU that has this and no more
  std::string_view tuning = {};  ///< what most CPUs of the level do fast, as LLVM's features
};

inline constexpr auto kLevels = std::to_array<TargetLevel>({
    {"x86-64", Architecture::x86_64, "x86-64"},
    {"x86-64-v2", Architecture::x86_64, "x86-64-v2"},
    {"x86-64-v3", Architecture::x86_64, "x86-64-v3"},
    {"x86-64-v4", Architecture::x86_64, "x86-64-v4"},
    {"armv8-a", Architecture::aarch64, "generic", "+alu-lsl-fast"},  // an addition shifts an operand for nothing
});

/// Makes the error (invalid_argument) for a target without code. It lists the expected names and the nearest one.
/// `cpus`: names of the CPUs that have code. `reason`: why a known name is refused ("i686 is a CPU of 32 bits");
/// empty for an unknown name.
[[nodiscard]] std::unexpected<Error> unknown_target(std::string_view target, std::span<const std::string> cpus,
                                                    std::string_view reason = {});

}  // namespace padlock::compiler
