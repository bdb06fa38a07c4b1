#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "abi/kernel_abi.h"

namespace padlock::abi {

enum class CodeKind : std::uint8_t {
  host_image,  ///< machine code for CPUs
  ptx,         ///< text for NVIDIA GPUs, which a driver compiles
};

/// One variant of a kernel: its launch contract, and where in an image its HostEntry begins, and the HostPlanner of one
/// that has a plan. PTX has a function of the contract's name instead.
struct KernelVariant {
  KernelAbi abi;
  std::size_t offset = 0;
  std::optional<std::size_t> planner = {};
};

/// The code of one program: what a compiler returns, a pack holds and a device loads. An image is the code as it lies
/// in memory, constants and jump tables included. It runs wherever a page begins: no relocation is left in it and it
/// imports nothing, since all that a kernel needs is handed to its entry. The contracts borrow the program.
struct CompiledCode {
  CodeKind kind = CodeKind::host_image;
  std::vector<std::byte> bytes = {};
  std::vector<std::byte> cubin = {};  ///< of PTX: what an assembler made of all of it for the GPU; empty: nothing
  std::int64_t task_bytes = std::int64_t{64} << 10;  ///< least bytes of output in one task of a thread pool
  /// The variants of each kernel, the one that assumes nothing first.
  std::vector<std::vector<KernelVariant>> kernels = {};

  /// The bytes of PTX as text.
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

}  // namespace padlock::abi
