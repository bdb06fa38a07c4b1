#pragma once

#include "ir/launch_plan.h"

namespace padlock::testing {

/// Plans a launch of one contract, where one binding is all there is.
[[nodiscard]] inline Result<ir::LaunchPlan> plan_launch(const ir::KernelAbi& abi, const ir::Binding& binding) {
  const ir::KernelAbi* const variants[] = {&abi};
  return ir::LaunchPlanner(binding.program(), variants).plan(binding);
}

}  // namespace padlock::testing
