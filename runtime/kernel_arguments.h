#pragma once

#include <cstdint>
#include <vector>

#include "abi/kernel_abi.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::runtime {

/// Positions of a kernel's arguments in its program's lists, in the kernel's order.
struct ArgumentPlaces {
  std::vector<std::uint32_t> inputs;   // in Program::tensor_parameters()
  std::vector<std::uint32_t> results;  // in Program::results()
  std::vector<std::uint32_t> scalars;  // in Program::scalar_parameters()

  /// Error: internal, where the contract names something that is no argument of the program.
  [[nodiscard]] static Result<ArgumentPlaces> of(const abi::KernelAbi& abi, const ir::Program& program);
};

/// Error: internal, where two variants of a kernel do not take the same arguments.
[[nodiscard]] Status check_same_arguments(const abi::KernelAbi& abi, const abi::KernelAbi& variant);

/// Turns a kernel's fault into an error once the kernel is done. Error: internal, naming kernel, access, offset and
/// extent, where an access was outside its storage (it was skipped).
[[nodiscard]] Status check_fault(const abi::AccessFault& fault, const abi::KernelAbi& abi);

}  // namespace padlock::runtime
