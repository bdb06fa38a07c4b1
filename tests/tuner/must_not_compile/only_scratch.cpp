// The control: what the files beside it do wrongly, done rightly. It compiles, so what they lack is no header or flag.
#include <type_traits>

#include "runtime/scratch_launch.h"

namespace padlock::runtime {

Status on_scratch(const BoundKernel& kernel, const ScratchBuffer& x, const ScratchBuffer& y, const ParallelFor& pool);
Status of_a_caller(const BoundKernel& kernel, const UserBuffer& x, const UserBuffer& y, const ParallelFor& pool);

Status on_scratch(const BoundKernel& kernel, const ScratchBuffer& x, const ScratchBuffer& y, const ParallelFor& pool) {
  return launch_on_scratch(kernel, {.inputs = {&x, 1}, .outputs = {&y, 1}, .scalars = {}}, pool);
}

Status of_a_caller(const BoundKernel& kernel, const UserBuffer& x, const UserBuffer& y, const ParallelFor& pool) {
  const BufferView input(x);
  const BufferView output(y);
  return kernel.run({&input, 1}, {&output, 1}, {}, pool);
}

static_assert(!std::is_convertible_v<ScratchBuffer, UserBuffer> && !std::is_convertible_v<UserBuffer, ScratchBuffer>);
static_assert(!std::is_constructible_v<ScratchBuffer, UserBuffer>);
static_assert(!std::is_constructible_v<UserBuffer, ScratchBuffer>);
static_assert(!std::is_constructible_v<BufferView, ScratchBuffer>);

}  // namespace padlock::runtime
