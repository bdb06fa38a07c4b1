#pragma once

#include <string>
#include <string_view>
#include <vector>

// What code is made for: a CPU ("host", "host:x86-64-v3") or an architecture of GPUs ("sm_90").
namespace padlock::abi {

/// GPU code is made for this architecture where nothing else is said.
inline constexpr const char* kDefaultGpuTarget = "sm_90";

/// Says whether a target ("host", "host:x86-64-v3", "sm_90") is a GPU.
[[nodiscard]] inline bool is_gpu(std::string_view target) { return target.starts_with("sm_"); }

/// Lists the architectures that code can be made for, oldest first.
[[nodiscard]] std::vector<std::string> gpu_targets();
/// Reads 103 from "sm_103": ten times the major version of the architecture and the minor one. 0 for what is none.
[[nodiscard]] int gpu_target_number(std::string_view target);
/// Finds the newest that a device of this compute capability runs and that is of its major version; empty where there
/// is none.
[[nodiscard]] std::string gpu_target_for(int major, int minor);

}  // namespace padlock::abi
