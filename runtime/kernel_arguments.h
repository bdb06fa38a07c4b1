#pragma once

#include <cstdint>
#include <vector>

#include "abi/kernel_abi.h"
#include "abi/launch_plan.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::runtime {

/// Positions of a kernel's arguments in its program's lists, in the kernel's order.
struct ArgumentPlaces {
  std::vector<std::uint32_t> inputs;   // indices into Program::tensor_parameters()
  std::vector<std::uint32_t> results;  // in Program::results()
  std::vector<std::uint32_t> scalars;  // in Program::scalar_parameters()

  /// Error: internal if the contract names a missing argument of the program.
  [[nodiscard]] static Result<ArgumentPlaces> of(const abi::KernelAbi& abi, const ir::Program& program);
};

/// Error: internal if two variants of a kernel take different arguments.
[[nodiscard]] Status check_same_arguments(const abi::KernelAbi& abi, const abi::KernelAbi& variant);

/// Returns the bytes by which one of several launches moves each buffer's pointer: inputs, then results, in the
/// kernel's order.
[[nodiscard]] std::vector<std::uint64_t> buffer_offsets(const abi::LaunchPart& part, const abi::KernelAbi& abi,
                                                        const ir::Program& program);

/// Turns a kernel's fault into an error after the kernel is done. Error: internal, naming kernel, access, offset and
/// extent, if an access was outside its storage (the access was skipped).
[[nodiscard]] Status check_fault(const abi::AccessFault& fault, const abi::KernelAbi& abi);

}  // namespace padlock::runtime
