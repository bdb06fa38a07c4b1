// A build without CUDA: there is no driver, and nothing is ever made that would need one. In place of this folder's
// other sources, so that what is above the run time is the same in every build.

#include "runtime/cuda/devices.h"
#include "runtime/cuda/loaded_program.h"
#include "runtime/cuda/memory.h"

namespace padlock::runtime::cuda {
namespace {

std::unexpected<Error> absent() { return unavailable("this build has no CUDA (PADLOCK_CUDA is off)"); }

}  // namespace

Result<std::shared_ptr<const Driver>> Driver::find() { return absent(); }
Error Driver::error_of(CUresult, std::string_view, const CallSite&) const { return absent().error(); }

std::string DeviceFacts::architecture() const { return {}; }
Result<int> device_count(const Driver&) { return absent(); }
Result<DeviceFacts> device_facts(const Driver&, int) { return absent(); }
Result<std::vector<DeviceFacts>> list_devices(const Driver&) { return absent(); }

Result<std::unique_ptr<const Context>> Context::retain_primary(std::shared_ptr<const Driver>, int) { return absent(); }
Result<std::unique_ptr<const Context>> Context::borrow(std::shared_ptr<const Driver>, CUcontext) { return absent(); }
Context::~Context() = default;

Result<Stream> Stream::create(const Context&) { return absent(); }
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
Stream::~Stream() = default;
Status Stream::synchronize(std::string_view) const { return absent(); }

Result<DeviceBuffer> DeviceBuffer::allocate(const Context&, std::int64_t, const std::string&) { return absent(); }
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept = default;
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept = default;
DeviceBuffer::~DeviceBuffer() = default;
Result<std::optional<std::int64_t>> free_memory(const Context&) { return absent(); }
Status copy_to_device(const Stream&, CUdeviceptr, std::span<const std::byte>) { return absent(); }
Status copy_to_host(const Stream&, std::span<std::byte>, CUdeviceptr) { return absent(); }
Status enqueue_copy(const Stream&, CUdeviceptr, CUdeviceptr, std::int64_t) { return absent(); }

Module::~Module() = default;

Result<std::unique_ptr<const LoadedProgram>> LoadedProgram::load(const Context&, const DeviceFacts&, const ir::Program&,
                                                                 ir::CompiledCode) {
  return absent();
}
Result<BoundLaunch> LoadedProgram::bind(const ir::Binding&, const ArgumentSizes&) const { return absent(); }
Status LoadedProgram::synchronize(const Stream&) const { return absent(); }
Status BoundLaunch::launch(std::span<const BufferView>, std::span<const BufferView>, std::span<const std::uint64_t>,
                           const Stream&) const {
  return absent();
}

}  // namespace padlock::runtime::cuda
