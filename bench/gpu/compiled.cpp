#include "bench/gpu/compiled.h"

#include <fmt/format.h>

namespace padlock::bench::gpu {
Result<BoundSizes> BoundSizes::of(const ir::Binder& binder, const ir::KernelAbi& abi, const ir::BindRequest& request) {
  PADLOCK_TRY(const ir::Binding binding, binder.bind(request));
  PADLOCK_TRY(runtime::ArgumentSizes arguments, runtime::ArgumentSizes::of(binding));
  PADLOCK_TRY(ir::LaunchPlan plan, ir::plan_launch(abi, binding));
  return BoundSizes{std::move(plan), std::move(arguments)};
}

Status check_contract(const ir::KernelAbi& abi) {
  if (abi.inputs.size() == 1 && abi.results.size() == 1 && abi.scalars.empty()) return {};
  return internal_error(fmt::format("kernel {} has {} inputs, {} results and {} scalars, expected one, one and none",
                                    abi.name, abi.inputs.size(), abi.results.size(), abi.scalars.size()));
}

}  // namespace padlock::bench::gpu
