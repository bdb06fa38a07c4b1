#pragma once

#include <cstdint>
#include <span>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/scratch/scratch_buffer.h"
#include "support/error.h"
#include "support/stack_array.h"

namespace padlock::runtime {

/// ScratchArguments are the arguments of a launch on scratch memory, in the orders of Program::tensor_parameters(),
/// results() and scalar_parameters(). Borrowed.
struct ScratchArguments {
  std::span<const ScratchBuffer> inputs;
  std::span<const ScratchBuffer> outputs;
  std::span<const std::uint64_t> scalars;
};

/// Calls BoundLaunch::launch with buffers of the right size in the device's memory.
[[nodiscard]] Status launch_on_scratch(const BoundLaunch& launch, const ScratchArguments& arguments,
                                       void* stream = nullptr);

/// Views scratch buffers for a launch. Only a launch makes it.
class ScratchViews {
 public:
  [[nodiscard]] std::span<const BufferView> inputs() const { return inputs_.span(); }
  [[nodiscard]] std::span<const BufferView> outputs() const { return outputs_.span(); }

 private:
  friend Status launch_on_scratch(const BoundLaunch&, const ScratchArguments&, void*);
  explicit ScratchViews(const ScratchArguments& arguments);
  StackArray<BufferView> inputs_, outputs_;
};

}  // namespace padlock::runtime
