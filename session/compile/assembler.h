#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

// Private to this folder.
namespace padlock::session {

/// Assembles PTX into a cubin for an architecture ("sm_90"), by a program like CUDA's ptxas in its own process.
/// `assembler`: a path, or a name to search on PATH. Errors: unavailable if the program is not found, does not start,
/// takes more than a minute, fails (with its last output) or leaves no cubin; a file's if the temporary folder cannot
/// be written.
[[nodiscard]] Result<std::vector<std::byte>> assemble(const std::string& assembler, const std::string& architecture,
                                                      std::string_view ptx);

}  // namespace padlock::session
