#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "tests/tuner/faults/fault.h"

namespace padlock::tuner::faults {

/// The fault of what is compiled and run next, and the sizes that it will be run at. One a process: an entry point has
/// no other way to know.
void set_fault(Fault fault, const std::map<std::string, std::int64_t>& symbols);

/// The fault of the kernel that compares memory on the device, for the whole process: none, or one of comparisons.
void set_comparison_fault(Fault fault);

/// A compiler whose code, of programs with one result, do what the fault says after, or instead of, what they
/// should. A GPU's kernels get twins that the fake driver (PADLOCK_CUDA_DRIVER) runs, which do the same.
[[nodiscard]] Result<std::unique_ptr<compiler::TargetCompiler>> make_faulty_compiler(const std::string& target);

}  // namespace padlock::tuner::faults
