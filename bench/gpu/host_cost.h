#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/measure.h"
#include "bench/gpu/problem.h"
#include "bench/gpu/rig.h"

namespace padlock::bench::gpu {

enum class HostClock : std::uint8_t {
  wall,
  thread,  ///< the calling thread's time on a CPU: for machines that are busy with something else
};

struct HostCostOptions {
  int rounds = 31;
  std::uint64_t seed = 1;
  HostClock clock = HostClock::wall;
  int calls = 400;  ///< of one sample, fewer than a driver's queue holds
  /// Called before each sample of launches, outside the time; may be empty.
  std::function<void()> between_samples = {};
};

/// The program that costs are measured of: pad and relu of f32, rank 4.
[[nodiscard]] Problem host_cost_problem();

/// A call that only the host has to do with.
[[nodiscard]] Contestant host_contestant(std::string name, const HostCostOptions& options,
                                         std::function<Status()> call);

/// Host time of a launch with its binding cached, one buffer pair: cuLaunchKernel alone (the baseline), then with what
/// Padlock adds; their differences are the cost beside the driver's call. Of a GPU. Errors: the device's.
[[nodiscard]] Result<std::vector<Timing>> launch_costs(Rig& rig, const HostCostOptions& options);

/// Binding: of rank 1 (the baseline) and rank 4, sizes to all that a launch passes; and the part of rank 4 that no
/// kernel has to do with. Errors: the compiler's.
[[nodiscard]] Result<std::vector<Timing>> bind_costs(compiler::TargetCompiler& compiler,
                                                     const HostCostOptions& options);

/// Program text to PTX in a process that has compiled before, the proofs cached: rank 1 (the baseline) and rank 4; and
/// the part of rank 4 that comes before LLVM's code generation (and is printed as text instead).
/// Errors: the compiler's.
[[nodiscard]] Result<std::vector<Timing>> compile_costs(compiler::TargetCompiler& compiler,
                                                        const HostCostOptions& options);

}  // namespace padlock::bench::gpu
