#include "runtime/cuda/kernel_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace padlock::runtime::cuda {
namespace {

Status check_contract(const abi::KernelAbi& abi) {
  if (abi.threads <= 0) return internal_error(fmt::format("kernel {} is not made for a GPU", abi.name));
  const std::size_t words = abi::ParameterWords(abi).count;
  if (words > abi::ParameterWords::kMost)
    return internal_error(
        fmt::format("kernel {} has {} parameters, a launch takes {}", abi.name, words, abi::ParameterWords::kMost));
  return {};
}

/// Checked before any launch: the driver's own refusal names neither number.
Status check_block(const abi::KernelAbi& abi, const Function& function, const GpuFacts& device) {
  FunctionFacts facts{.max_block_threads = device.max_block_threads};
  if (function.context().driver().cuFuncGetAttribute) {
    PADLOCK_TRY(facts, function_facts(function));
  }
  if (abi.threads <= facts.max_block_threads) return {};
  return std::unexpected(
      Error{.code = Code::failed_precondition,
            .blame = Blame::environment,
            .message = fmt::format("kernel {} has blocks of {} threads, cuda:{} runs at most {} of its code "
                                   "({} registers a thread, {} bytes of shared memory)",
                                   abi.name, abi.threads, device.ordinal, facts.max_block_threads, facts.registers,
                                   facts.shared_bytes)});
}

}  // namespace

Result<const Function*> KernelLauncher::function_of(const Variant& variant) const {
  if (const Function* const known = variant.function.load(std::memory_order_acquire)) return known;
  PADLOCK_TRY(const Function* function, modules_->function(variant.abi.name));
  PADLOCK_CHECK(check_block(variant.abi, *function, *device_));
  variant.function.store(function, std::memory_order_release);
  return function;
}

Result<KernelLauncher> KernelLauncher::create(const ProgramModules& modules, std::vector<abi::KernelVariant> variants,
                                              const ir::Program& program, const GpuFacts& device, CUdeviceptr fault) {
  if (variants.empty()) return internal_error("a kernel has no variant");
  const abi::KernelAbi& any = variants.front().abi;
  std::vector<const abi::KernelAbi*> contracts;
  for (const abi::KernelVariant& variant : variants) {
    PADLOCK_CHECK(check_same_arguments(any, variant.abi));
    contracts.push_back(&variant.abi);
  }
  PADLOCK_TRY(ArgumentPlaces places, ArgumentPlaces::of(any, program));
  abi::LaunchPlanner planner(program, contracts);
  KernelLauncher launcher(modules, device, std::move(places), std::move(planner), fault);
  for (abi::KernelVariant& variant : variants) {
    PADLOCK_CHECK(check_contract(variant.abi));
    // From this driver on, such a launch may be captured into a graph.
    constexpr int kFirstDriver = 12030;
    if (!modules.has(variant.abi.name)) return internal_error(fmt::format("the PTX has no entry {}", variant.abi.name));
    const bool waits = variant.abi.waits && device.driver_version >= kFirstDriver;
    launcher.variants_.push_back(std::make_unique<const Variant>(std::move(variant.abi), waits));
  }
  return launcher;
}

Result<BoundKernel> KernelLauncher::bind(const ir::Binding& binding) const {
  BoundKernel bound;
  bound.launcher_ = this;
  PADLOCK_TRY(const abi::LaunchPlan plan, planner_.plan(binding));
  bound.variant_ = plan.variant;
  if (plan.empty()) return bound;
  const Variant& variant = *variants_[plan.variant];
  if (plan.parts.empty()) {
    PADLOCK_TRY(BoundKernel::Launch launch, make_launch(variant, plan.rows, plan.shared_bytes, plan.sizes));
    bound.launches_.push_back(std::move(launch));
  }
  for (const abi::LaunchPart& part : plan.parts) {
    PADLOCK_TRY(BoundKernel::Launch launch, make_launch(variant, part.rows, plan.shared_bytes, part.sizes));
    const std::vector<std::uint64_t> offsets = buffer_offsets(part, variant.abi, binding.program());
    std::ranges::copy(offsets, launch.words.begin() + abi::ParameterWords::buffers);
    bound.launches_.push_back(std::move(launch));
  }
  PADLOCK_TRY(bound.function_, function_of(variant));
  return bound;
}

Result<BoundKernel::Launch> KernelLauncher::make_launch(const Variant& variant, std::int64_t blocks,
                                                        std::int64_t shared_bytes,
                                                        std::span<const std::int64_t> sizes) const {
  if (blocks > device_->max_grid_x)
    return resource_exhausted(fmt::format("kernel {} has {} blocks of these sizes, cuda:{} launches at most {}",
                                          variant.abi.name, blocks, device_->ordinal, device_->max_grid_x));
  if (shared_bytes > device_->max_shared_bytes)
    return resource_exhausted(fmt::format("kernel {} needs {} bytes of shared memory a block, cuda:{} has {}",
                                          variant.abi.name, shared_bytes, device_->ordinal, device_->max_shared_bytes));
  BoundKernel::Launch launch{.shape = {.grid_x = static_cast<unsigned>(blocks),
                                       .block_x = static_cast<unsigned>(variant.abi.threads),
                                       .shared_bytes = static_cast<unsigned>(shared_bytes),
                                       .waits = variant.waits},
                             .words = {}};
  const abi::ParameterWords places(variant.abi);
  launch.words.reserve(places.count);
  launch.words.assign(places.sizes, 0);
  launch.words[abi::ParameterWords::fault] = fault_;
  for (const std::int64_t size : sizes) launch.words.push_back(static_cast<std::uint64_t>(size));
  return launch;
}

const abi::KernelAbi& BoundKernel::abi() const { return launcher_->abi(variant_); }

Status BoundKernel::launch(const ContextScope& current, std::span<const BufferView> inputs,
                           std::span<const BufferView> outputs, std::span<const std::uint64_t> scalars,
                           const Stream& stream) const {
  // A copy, since launches may run at once; on the stack, since they allocate nothing. Not cleared: all that is passed
  // is written.
  std::array<std::uint64_t, abi::ParameterWords::kMost> words;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (const Launch& launch : launches_) {
    std::ranges::copy(launch.words, words.begin());
    auto at = words.begin() + abi::ParameterWords::buffers;
    for (const std::uint32_t place : launcher_->places_.inputs)
      *at++ += std::bit_cast<CUdeviceptr>(inputs[place].data());
    for (const std::uint32_t place : launcher_->places_.results)
      *at++ += std::bit_cast<CUdeviceptr>(outputs[place].data());
    for (const std::uint32_t place : launcher_->places_.scalars) *at++ = scalars[place];
    PADLOCK_CHECK(
        cuda::launch(current, function(), launch.shape, std::span(words.data(), launch.words.size()), stream));
  }
  return {};
}

}  // namespace padlock::runtime::cuda
