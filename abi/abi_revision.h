#pragma once

namespace padlock::abi {

/// Revision of the data that a launch passes to a kernel (KernelAbi, HostLaunch, ParameterWords), raised with each
/// change of them or their meaning. Code made for another revision is not run.
inline constexpr int kAbiRevision = 5;

}  // namespace padlock::abi
