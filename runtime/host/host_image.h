#pragma once

#include <memory>
#include <vector>

#include "abi/compiled_code.h"
#include "support/code_memory.h"
#include "support/error.h"

namespace padlock::runtime {

/// One variant of a kernel in this process: its launch contract and its code.
struct HostVariant {
  abi::KernelAbi abi;
  abi::HostEntry entry = nullptr;
  abi::HostPlanner planner = nullptr;  ///< null if it has no plan
};

/// The kernels of one program, mapped into this process.
struct HostImage {
  std::shared_ptr<const CodeMemory> code;  // shared: an entry's users keep the code alive
  /// The variants of each kernel, the one without assumptions first.
  std::vector<std::vector<HostVariant>> kernels;
};

/// Maps code into this process. The machine must support its instructions. Errors: internal for PTX, and for an entry
/// outside the image; else as CodeMemory::map.
[[nodiscard]] Result<HostImage> load_image(abi::CompiledCode code);

}  // namespace padlock::runtime
