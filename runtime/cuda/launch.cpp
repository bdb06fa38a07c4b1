#include "runtime/cuda/launch.h"

#include <bit>

namespace padlock::runtime::cuda {
namespace {

void* tag(std::uintptr_t value) { return std::bit_cast<void*>(value); }

}  // namespace

Status launch(const ContextScope& current, const Function& function, const LaunchShape& shape,
              std::span<const std::uint64_t> parameters, const Stream& stream) {
  if (shape.grid_x == 0) return {};
  // One packed buffer instead of a pointer per parameter: words of 64 bits leave no gaps. The driver only reads it; its
  // type has no const.
  std::size_t bytes = parameters.size_bytes();
  void* extra[] = {tag(kLaunchParamBufferPointer), const_cast<std::uint64_t*>(parameters.data()),
                   tag(kLaunchParamBufferSize), &bytes, tag(kLaunchParamEnd)};
  const Context& context = current.context();
  const Driver& driver = context.driver();
  if (shape.waits && driver.cuLaunchKernelEx) {
    CUlaunchAttribute waits{.id = kLaunchProgrammaticStreamSerialization, .value = {1}};
    const CUlaunchConfig config{.grid_x = shape.grid_x,
                                .block_x = shape.block_x,
                                .shared_bytes = shape.shared_bytes,
                                .stream = stream.handle(),
                                .attributes = &waits,
                                .attribute_count = 1};
    return driver.call(driver.cuLaunchKernelEx, {.device = context.ordinal(), .kernel = function.name()}, &config,
                       function.handle(), static_cast<void**>(nullptr), static_cast<void**>(extra));
  }
  return driver.call(driver.cuLaunchKernel, {.device = context.ordinal(), .kernel = function.name()}, function.handle(),
                     shape.grid_x, 1U, 1U, shape.block_x, 1U, 1U, shape.shared_bytes, stream.handle(),
                     static_cast<void**>(nullptr), static_cast<void**>(extra));
}

Status launch(const Function& function, const LaunchShape& shape, std::span<const std::uint64_t> parameters,
              const Stream& stream) {
  if (shape.grid_x == 0) return {};
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(function.context()));
  return launch(scope, function, shape, parameters, stream);
}

}  // namespace padlock::runtime::cuda
