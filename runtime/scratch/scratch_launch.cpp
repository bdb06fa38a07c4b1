#include "runtime/scratch/scratch_launch.h"

#include <bit>

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

Status launch_on_scratch(const BoundLaunch& launch, const ScratchArguments& arguments, void* stream) {
  const ScratchViews views(arguments);
  return launch.run(views.inputs(), views.outputs(), arguments.scalars, stream);
}

}  // namespace padlock::runtime
