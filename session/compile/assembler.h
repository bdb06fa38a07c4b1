#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

// Private to this folder.
namespace padlock::session {

/// Returns the cubin that a program like CUDA's ptxas makes of PTX for an architecture ("sm_90"), in a process of its
/// own. `assembler`: a path, or a name that is looked for on PATH. Errors: unavailable where it is not found, does not
/// start, takes more than a minute, fails (with what it wrote last) or leaves no cubin; as files' where none can be
/// written below the folder for temporary files.
[[nodiscard]] Result<std::vector<std::byte>> assemble(const std::string& assembler, const std::string& architecture,
                                                      std::string_view ptx);

}  // namespace padlock::session
