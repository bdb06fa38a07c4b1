#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "tests/tuner/faults/fault.h"

namespace padlock::tuner::faults {

/// Sets the fault of the code that is compiled and run next, and its sizes. One for the process, because an entry point
/// has no other way to get it.
void set_fault(Fault fault, const std::map<std::string, std::int64_t>& symbols);

/// Sets the fault of the kernel that compares memory on the device, for the whole process: none, or one of comparisons.
void set_comparison_fault(Fault fault);

/// Makes a compiler for programs with one result whose code also has the fault, or has it in place of its work. A GPU's
/// kernels get twins with the same fault, which the fake driver (PADLOCK_CUDA_DRIVER) runs.
[[nodiscard]] Result<std::unique_ptr<compiler::TargetCompiler>> make_faulty_compiler(const std::string& target);

}  // namespace padlock::tuner::faults
