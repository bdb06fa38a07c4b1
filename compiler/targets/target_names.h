#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::compiler {

inline constexpr std::string_view kHostPrefix = "host:";

/// Makes the error (invalid_argument) for a target without code. It lists the expected names and the nearest one.
/// `cpus`: LLVM's names of the CPUs that have code. `reason`: why a known name is refused ("i686 is a CPU of 32 bits");
/// empty for an unknown name.
[[nodiscard]] std::unexpected<Error> unknown_target(std::string_view target, std::span<const std::string> cpus,
                                                    std::string_view reason = {});

}  // namespace padlock::compiler
