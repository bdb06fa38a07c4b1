#pragma once

#include <cstdint>
#include <span>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "runtime/scratch_buffer.h"
#include "support/error.h"
#include "support/stack_array.h"

namespace padlock::runtime {

/// What a launch on scratch memory is given, in the orders of Program::tensor_parameters(), results() and
/// scalar_parameters(). Borrowed.
struct ScratchArguments {
  std::span<const ScratchBuffer> inputs;
  std::span<const ScratchBuffer> outputs;
  std::span<const std::uint64_t> scalars;
};

/// BoundKernel::run.
[[nodiscard]] Status launch_on_scratch(const BoundKernel& kernel, const ScratchArguments& arguments,
                                       const ParallelFor& pool);

namespace cuda {
class BoundLaunch;
class Stream;
/// BoundLaunch::launch. The buffers lie in memory of the stream's context.
[[nodiscard]] Status launch_on_scratch(const BoundLaunch& launch, const ScratchArguments& arguments,
                                       const Stream& stream);
}  // namespace cuda

/// Scratch buffers as a launch takes them. The two launches make it, and nobody else does.
class ScratchViews {
 public:
  [[nodiscard]] std::span<const BufferView> inputs() const { return inputs_.span(); }
  [[nodiscard]] std::span<const BufferView> outputs() const { return outputs_.span(); }

 private:
  friend Status launch_on_scratch(const BoundKernel&, const ScratchArguments&, const ParallelFor&);
  friend Status cuda::launch_on_scratch(const cuda::BoundLaunch&, const ScratchArguments&, const cuda::Stream&);
  explicit ScratchViews(const ScratchArguments& arguments);
  StackArray<BufferView> inputs_, outputs_;
};

}  // namespace padlock::runtime
