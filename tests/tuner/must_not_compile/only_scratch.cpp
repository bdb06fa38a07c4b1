// The control: does correctly what the files beside it do wrongly. It compiles, so they do not fail for a missing
// header or flag.
#include <type_traits>

#include "runtime/scratch/scratch_launch.h"

namespace padlock::runtime {

Status on_scratch(const BoundLaunch& launch, const ScratchBuffer& x, const ScratchBuffer& y);
Status of_a_caller(const BoundLaunch& launch, const UserBuffer& x, const UserBuffer& y);

Status on_scratch(const BoundLaunch& launch, const ScratchBuffer& x, const ScratchBuffer& y) {
  return launch_on_scratch(launch, {.inputs = {&x, 1}, .outputs = {&y, 1}, .scalars = {}});
}

Status of_a_caller(const BoundLaunch& launch, const UserBuffer& x, const UserBuffer& y) {
  const BufferView input(x);
  const BufferView output(y);
  return launch.launch({&input, 1}, {&output, 1}, {});
}

static_assert(!std::is_convertible_v<ScratchBuffer, UserBuffer> && !std::is_convertible_v<UserBuffer, ScratchBuffer>);
static_assert(!std::is_constructible_v<ScratchBuffer, UserBuffer>);
static_assert(!std::is_constructible_v<UserBuffer, ScratchBuffer>);
static_assert(!std::is_constructible_v<BufferView, ScratchBuffer>);

}  // namespace padlock::runtime
