#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "support/error.h"

namespace padlock::runtime {

/// Returns whether the CPU of this machine, and the system for its registers, have an instruction set, by LLVM's name
/// for it ("avx2"); nullopt for a name that is not known. Asks the CPU, not LLVM.
[[nodiscard]] std::optional<bool> cpu_has(std::string_view feature);

/// Checks that code which uses these instruction sets may run here. Error: unavailable, naming what is missing.
[[nodiscard]] Status check_cpu(std::span<const std::string_view> features);

}  // namespace padlock::runtime
