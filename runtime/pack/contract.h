#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "abi/compiled_code.h"
#include "ir/program.h"
#include "runtime/pack/pack_file.h"
#include "support/error.h"

// The launch contracts of compiled code, as bytes of a pack.
namespace padlock::runtime {

/// Error: internal for a contract that names a coordinate.
[[nodiscard]] Result<std::vector<std::byte>> write_contracts(const abi::CompiledCode& code);

/// Reads the code of a target's config. The program must have the same text as when the code was written. Every kernel
/// has a variant. Errors: damaged_pack (pack_header.h).
[[nodiscard]] Result<abi::CompiledCode> read_code(const ir::Program& program, abi::CodeKind kind,
                                                  const PackConfig& packed);

}  // namespace padlock::runtime
