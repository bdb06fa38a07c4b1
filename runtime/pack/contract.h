#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/code_image.h"
#include "ir/program.h"
#include "support/error.h"

// The launch contracts of one piece of code, as bytes of a pack.
namespace padlock::runtime {

/// Of each kernel its variants, as in an ir::CodeImage.
using Contracts = std::vector<std::vector<ir::ImageEntry>>;

/// Error: internal, for a contract that names a coordinate.
[[nodiscard]] Result<std::vector<std::byte>> write_contracts(const Contracts& contracts);

/// For a program with the text of the one that they were written for. Every kernel has a variant. Errors: damaged_pack
/// (byte_stream.h).
[[nodiscard]] Result<Contracts> read_contracts(const ir::Program& program, std::span<const std::byte> bytes);

}  // namespace padlock::runtime
