#include "api/device_run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/compiled_state.h"

namespace padlock::api {
namespace {

using runtime::UserBuffer;
using runtime::cuda::DeviceBuffer;
using runtime::cuda::Stream;

/// The widest access of a kernel.
constexpr std::uintptr_t kWidestBytes = 16;

/// An array and the buffer beside it.
struct Mirror {
  std::span<std::byte> array;  // borrowed (outlives this)
  DeviceBuffer buffer;
  std::int64_t offset = 0;  // of the array in the buffer, bytes

  [[nodiscard]] runtime::cuda::CUdeviceptr address() const {
    return buffer.address() + static_cast<std::uint64_t>(offset);
  }
  [[nodiscard]] UserBuffer on_device() const {
    return {static_cast<void*>(static_cast<std::byte*>(buffer.data()) + offset),
            static_cast<std::int64_t>(array.size())};
  }

  static Result<Mirror> make(const Stream& stream, const UserBuffer& array, const TensorInfo& tensor,
                             const char* role) {
    Mirror mirror;
    // No more than the program's: the rest of a caller's buffer is none of ours.
    mirror.array = {static_cast<std::byte*>(array.data()), static_cast<std::size_t>(tensor.storage_bytes)};
    const auto element = static_cast<std::uintptr_t>(ir::byte_size(tensor.dtype));
    const auto residue = reinterpret_cast<std::uintptr_t>(array.data()) % kWidestBytes;
    mirror.offset = tensor.storage_bytes == 0 ? 0 : static_cast<std::int64_t>(residue / element * element);
    PADLOCK_TRY(mirror.buffer,
                DeviceBuffer::allocate(stream.context(), mirror.offset + tensor.storage_bytes, role + tensor.name));
    PADLOCK_CHECK(runtime::cuda::copy_to_device(stream, mirror.address(), mirror.array));
    return mirror;
  }
};

}  // namespace

struct DeviceRun::State {
  BoundProgram program;
  // What is launched: the arrays, or the buffers beside them.
  std::vector<UserBuffer> inputs, outputs;
  std::vector<std::uint64_t> scalars;
  // On a GPU:
  std::optional<Stream> stream = {};
  std::vector<Mirror> mirrored_inputs = {}, mirrored_outputs = {};

  [[nodiscard]] LaunchArguments arguments() const {
    return {.inputs = inputs, .outputs = outputs, .scalars = scalars, .stream = stream ? stream->handle() : nullptr};
  }
  Status mirror(std::vector<UserBuffer>& buffers, const std::vector<TensorInfo>& tensors, const char* role,
                std::vector<Mirror>& mirrors) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      PADLOCK_TRY(Mirror mirror, Mirror::make(*stream, buffers[i], tensors[i], role));
      buffers[i] = mirror.on_device();
      mirrors.push_back(std::move(mirror));
    }
    return {};
  }
};

DeviceRun::DeviceRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceRun::DeviceRun(DeviceRun&& other) noexcept = default;
DeviceRun& DeviceRun::operator=(DeviceRun&& other) noexcept = default;
DeviceRun::~DeviceRun() = default;

Result<DeviceRun> DeviceRun::begin(const BoundProgram& program, const LaunchArguments& arrays) {
  PADLOCK_CHECK(program.state_->check(LaunchViews(arrays), arrays.scalars));
  DeviceRun run(std::make_unique<State>(State{.program = program,
                                              .inputs = {arrays.inputs.begin(), arrays.inputs.end()},
                                              .outputs = {arrays.outputs.begin(), arrays.outputs.end()},
                                              .scalars = {arrays.scalars.begin(), arrays.scalars.end()}}));
  State& state = *run.state_;
  const auto& loaded = program.state_->compiled->loaded;
  if (!loaded) return run;
  PADLOCK_TRY(state.stream, Stream::create(loaded->context()));
  PADLOCK_CHECK(state.mirror(state.inputs, program.inputs(), "input ", state.mirrored_inputs));
  PADLOCK_CHECK(state.mirror(state.outputs, program.results(), "result ", state.mirrored_outputs));
  return run;
}

Status DeviceRun::launch() {
  const LaunchArguments arguments = state_->arguments();
  PADLOCK_CHECK(state_->program.launch(arguments));
  return state_->program.synchronize(arguments.stream);
}

Status DeviceRun::finish() {
  for (const Mirror& mirror : state_->mirrored_outputs)
    PADLOCK_CHECK(runtime::cuda::copy_to_host(*state_->stream, mirror.array, mirror.address()));
  return {};
}

Status run_on_host_arrays(const BoundProgram& program, const LaunchArguments& arrays) {
  PADLOCK_TRY(DeviceRun run, DeviceRun::begin(program, arrays));
  PADLOCK_CHECK(run.launch());
  return run.finish();
}

}  // namespace padlock::api
