#include "runtime/scratch_launch.h"

#include <bit>

#include "runtime/cuda/loaded_program.h"

namespace padlock::runtime {

ScratchViews::ScratchViews(const ScratchArguments& arguments)
    : inputs_(arguments.inputs.size()), outputs_(arguments.outputs.size()) {
  const auto view = [](const ScratchBuffer& buffer) {
    const std::uintptr_t first = buffer.memory_->address() + static_cast<std::uintptr_t>(buffer.offset_);
    return BufferView(std::bit_cast<void*>(first), buffer.bytes_);
  };
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) inputs_[i] = view(arguments.inputs[i]);
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i) outputs_[i] = view(arguments.outputs[i]);
}

Status launch_on_scratch(const BoundKernel& kernel, const ScratchArguments& arguments, const ParallelFor& pool) {
  const ScratchViews views(arguments);
  return kernel.run(views.inputs(), views.outputs(), arguments.scalars, pool);
}

namespace cuda {

Status launch_on_scratch(const BoundLaunch& launch, const ScratchArguments& arguments, const Stream& stream) {
  const ScratchViews views(arguments);
  return launch.launch(views.inputs(), views.outputs(), arguments.scalars, stream);
}

}  // namespace cuda
}  // namespace padlock::runtime
