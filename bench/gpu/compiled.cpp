#include "bench/gpu/compiled.h"

#include <fmt/format.h>

#include <charconv>

#include "compiler/gpu_compiler.h"

namespace padlock::bench::gpu {
namespace {

int number_of(std::string_view architecture) {
  int number = 0;
  const std::string_view digits = architecture.substr(architecture.find('_') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

Result<std::string> target_for(const std::string& found) {
  std::string best;
  for (const std::string& target : compiler::gpu_targets())
    if (number_of(target) <= number_of(found)) best = target;
  if (best.empty()) return unavailable(fmt::format("{} is older than any architecture that code is made for", found));
  return best;
}

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
