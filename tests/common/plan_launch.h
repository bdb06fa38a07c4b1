#pragma once

#include "abi/launch_plan.h"

namespace padlock::testing {

/// Plans a launch of one contract for a single binding.
[[nodiscard]] inline Result<abi::LaunchPlan> plan_launch(const abi::KernelAbi& abi, const ir::Binding& binding) {
  const abi::KernelAbi* const variants[] = {&abi};
  return abi::LaunchPlanner(binding.program(), variants).plan(binding);
}

}  // namespace padlock::testing
