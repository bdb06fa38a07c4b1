#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "support/error.h"

namespace padlock::runtime {

/// Returns whether this machine's CPU has an instruction set, by LLVM's name ("avx2"), and the system saves its
/// registers; nullopt for an unknown name. Asks the CPU, not LLVM.
[[nodiscard]] std::optional<bool> cpu_has(std::string_view feature);

/// Checks that code with these instruction sets may run here. Error: unavailable, naming what is missing.
[[nodiscard]] Status check_cpu(std::span<const std::string_view> features);

}  // namespace padlock::runtime
