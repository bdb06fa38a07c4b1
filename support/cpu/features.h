#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "support/error.h"

namespace padlock {

/// Returns whether this machine's CPU has an instruction set, by LLVM's name ("avx2", "sve"), and the system saves its
/// registers; nullopt for a name that this architecture lacks. Asks the CPU or the system, not LLVM.
[[nodiscard]] std::optional<bool> cpu_has(std::string_view feature);

/// Checks that code with these instruction sets may run here. Error: unavailable, naming what is missing.
[[nodiscard]] Status check_cpu(std::span<const std::string_view> features);

}  // namespace padlock
