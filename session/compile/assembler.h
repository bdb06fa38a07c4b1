#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

// Private to this folder.
namespace padlock::session {

/// Returns the cubin of PTX for an architecture ("sm_90"), made by a program like CUDA's ptxas in a process of its
/// own. `assembler`: a path, or a name that is looked for on PATH. Errors: unavailable if the program is not found,
/// does not start, takes more than a minute, fails (with its last output) or leaves no cubin; a file's if the
/// temporary folder cannot be written.
[[nodiscard]] Result<std::vector<std::byte>> assemble(const std::string& assembler, const std::string& architecture,
                                                      std::string_view ptx);

}  // namespace padlock::session
