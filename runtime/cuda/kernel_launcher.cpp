#include "runtime/cuda/kernel_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace padlock::runtime::cuda {
namespace {

Status check_contract(const ir::KernelAbi& abi) {
  if (abi.threads <= 0) return internal_error(fmt::format("kernel {} is not made for a GPU", abi.name));
  const std::size_t words = ir::ParameterWords(abi).count;
  if (words > ir::ParameterWords::kMost)
    return internal_error(
        fmt::format("kernel {} has {} parameters, a launch takes {}", abi.name, words, ir::ParameterWords::kMost));
  return {};
}

/// As many blocks as run at once, for a kernel whose blocks take many tiles; else what a grid may have.
Result<std::int64_t> most_blocks(const ir::KernelAbi& abi, const Function& function, const DeviceFacts& device) {
  if (!abi.persistent) return device.max_grid_x;
  PADLOCK_TRY(const std::optional<int> known, resident_blocks(function, abi.threads));
  // Without the driver's word, as if registers set no limit: blocks that wait cost time, nothing else.
  const std::int64_t resident = known.value_or(device.max_multiprocessor_threads / abi.threads);
  return std::clamp<std::int64_t>(device.multiprocessors * resident, 1, std::max(device.max_grid_x, 1));
}

}  // namespace

Result<KernelLauncher::Variant> KernelLauncher::load(const Module& module, ir::KernelAbi abi,
                                                     const DeviceFacts& device) {
  PADLOCK_CHECK(check_contract(abi));
  PADLOCK_TRY(Function function, module.function(abi.name));
  PADLOCK_TRY(const std::int64_t blocks, most_blocks(abi, function, device));
  return Variant{std::move(abi), std::move(function), blocks};
}

Result<KernelLauncher> KernelLauncher::create(const Module& module, std::vector<ir::KernelAbi> variants,
                                              const ir::Program& program, const DeviceFacts& device,
                                              CUdeviceptr fault) {
  KernelLauncher launcher;
  launcher.fault_ = fault;
  for (ir::KernelAbi& abi : variants) {
    PADLOCK_TRY(Variant variant, load(module, std::move(abi), device));
    launcher.variants_.push_back(std::move(variant));
  }
  if (launcher.variants_.empty()) return internal_error("a kernel has no variant");
  PADLOCK_TRY(launcher.places_, ArgumentPlaces::of(launcher.abi(), program));
  for (const Variant& variant : launcher.variants_) PADLOCK_CHECK(check_same_arguments(launcher.abi(), variant.abi));
  return launcher;
}

Result<BoundKernel> KernelLauncher::bind(const ir::Binding& binding, const ArgumentSizes& arguments) const {
  BoundKernel bound;
  bound.launcher_ = this;
  for (std::size_t i = 1; i < variants_.size(); ++i)
    if (ir::guards_hold(abi(i), binding)) bound.variant_ = i;
  // Before evaluating: the strides of an empty tensor may exceed 64 bits, and nobody will use them.
  if (places_.writes_nothing(arguments)) return bound;
  const Variant& variant = variants_[bound.variant_];
  PADLOCK_TRY(const ir::LaunchPlan plan, ir::plan_launch(variant.abi, binding));
  if (plan.rows < 0) return internal_error(fmt::format("kernel {} has {} tiles", variant.abi.name, plan.rows));
  bound.shape_ = {.grid_x = static_cast<unsigned>(std::min(plan.rows, variant.most_blocks)),
                  .block_x = static_cast<unsigned>(variant.abi.threads)};
  bound.words_.assign(ir::ParameterWords(variant.abi).sizes, 0);
  bound.words_[ir::ParameterWords::fault] = fault_;
  for (const std::int64_t size : plan.sizes) bound.words_.push_back(static_cast<std::uint64_t>(size));
  return bound;
}

const ir::KernelAbi& BoundKernel::abi() const { return launcher_->abi(variant_); }

Status BoundKernel::launch(const ContextScope& current, std::span<const BufferView> inputs,
                           std::span<const BufferView> outputs, std::span<const std::uint64_t> scalars,
                           const Stream& stream) const {
  if (shape_.grid_x == 0) return {};
  // A copy, since launches may run at once; on the stack, since they allocate nothing. Not cleared: all that is passed
  // is written.
  std::array<std::uint64_t, ir::ParameterWords::kMost> words;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::ranges::copy(words_, words.begin());
  auto at = words.begin() + ir::ParameterWords::buffers;
  for (const std::uint32_t place : launcher_->places_.inputs) *at++ = std::bit_cast<CUdeviceptr>(inputs[place].data());
  for (const std::uint32_t place : launcher_->places_.results)
    *at++ = std::bit_cast<CUdeviceptr>(outputs[place].data());
  for (const std::uint32_t place : launcher_->places_.scalars) *at++ = scalars[place];
  const Function& function = launcher_->variants_[variant_].function;
  return cuda::launch(current, function, shape_, std::span(words.data(), words_.size()), stream);
}

}  // namespace padlock::runtime::cuda
