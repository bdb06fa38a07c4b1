#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::compiler {

inline constexpr std::string_view kHostPrefix = "host:";

/// Makes the error (invalid_argument) for a target for which no code can be made. It lists what is expected, and the
/// target that the name is near to. `cpus`: LLVM's names of the CPUs that code can be made for. `reason`: empty where
/// the name is of nothing known; else why it is refused ("i686 is a CPU of 32 bits").
[[nodiscard]] std::unexpected<Error> unknown_target(std::string_view target, std::span<const std::string> cpus,
                                                    std::string_view reason = {});

}  // namespace padlock::compiler
