#pragma once

namespace padlock::abi {

/// Raised with each change of what a launch hands to a kernel (KernelAbi, HostLaunch, ParameterWords), and of what that
/// means: code that was made for another one is not run.
inline constexpr int kAbiRevision = 1;

}  // namespace padlock::abi
