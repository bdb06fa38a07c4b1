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

/// One variant of a kernel: its launch contract, and the offsets of its HostEntry and, for a kernel with a plan, of its
/// HostPlanner in the image. In PTX the contract's name is the function's name instead.
struct KernelVariant {
  KernelAbi abi;
  std::size_t offset = 0;
  std::optional<std::size_t> planner = {};
};

/// The code of one program: a compiler returns it, a pack holds it, a device loads it. An image is the code as it lies
/// in memory, with constants and jump tables. It runs at any page: it has no relocations and imports nothing, because
/// its entry receives all that a kernel needs. The contracts borrow the program.
struct CompiledCode {
  CodeKind kind = CodeKind::host_image;
  std::vector<std::byte> bytes = {};
  std::vector<std::byte> cubin = {};                 ///< the cubin that an assembler made of the PTX; may be empty
  std::int64_t task_bytes = std::int64_t{64} << 10;  ///< least output bytes of one task of a thread pool
  /// The variants of each kernel. The first assumes nothing.
  std::vector<std::vector<KernelVariant>> kernels = {};

  /// Returns PTX as text.
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

}  // namespace padlock::abi
