#pragma once

#include <string>
#include <string_view>
#include <vector>

// Targets of code: a CPU ("host", "host:x86-64-v3") or an architecture of GPUs ("sm_90").
namespace padlock::abi {

/// The default architecture of GPU code.
inline constexpr const char* kDefaultGpuTarget = "sm_90";

/// Returns whether a target ("host", "host:x86-64-v3", "sm_90") is a GPU.
[[nodiscard]] inline bool is_gpu(std::string_view target) { return target.starts_with("sm_"); }

/// Lists the GPU architectures that code can be made for, oldest first.
[[nodiscard]] std::vector<std::string> gpu_targets();
/// Reads the number of a GPU target, 10 * major + minor version: 103 from "sm_103". Returns 0 if the text is no GPU
/// target.
[[nodiscard]] int gpu_target_number(std::string_view target);
/// Returns the newest target of the device's major version that a device of this compute capability runs; empty if
/// there is none.
[[nodiscard]] std::string gpu_target_for(int major, int minor);

}  // namespace padlock::abi
