#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ir/executable.h"
#include "support/error.h"

namespace padlock::ir {

/// One variant of a kernel: its contract, and where in an image its HostEntry begins.
struct ImageEntry {
  KernelAbi abi;
  std::size_t offset = 0;
};

/// The host code of one program as it lies in memory, constants and jump tables included. It runs wherever a page
/// begins: no relocation is left in it and it imports nothing, since all that a kernel needs is handed to its entry.
struct CodeImage {
  std::vector<std::byte> bytes;
  /// Of each kernel the variants, the one that assumes nothing first.
  std::vector<std::vector<ImageEntry>> kernels;
};

using HostExecutables = std::vector<std::unique_ptr<HostExecutable>>;

/// Maps the code into this process. One executable a kernel; the code lives as long as any of them. The machine must
/// have the instructions that the code uses. Errors: internal for an entry outside the image; else as CodeMemory::map.
[[nodiscard]] Result<HostExecutables> load_image(CodeImage image);

}  // namespace padlock::ir
