#include "api/launch_context.h"

#include "api/compiled_state.h"
#include "api/cuda_devices.h"
#include "api/pack_loader.h"

namespace padlock::api {

LaunchContext::LaunchContext(const LaunchOptions& options)
    : pool_(options.threads),
      parallel_for_(options.parallel_for.value_or(pool_.as_parallel_for())),
      cuda_(std::make_unique<CudaDevices>(options.cuda_context)) {}

LaunchContext::~LaunchContext() = default;

CompiledProgram LaunchContext::interpret(const Program& program) const {
  return CompiledProgram(make_state(program, {DeviceKind::reference}, parallel_for_));
}

Result<CompiledProgram> LaunchContext::load(const Pack& pack, std::string_view program, const Device& device) {
  PADLOCK_TRY(const PackProgram* const packed, pack.find(program));
  return PackLoader(parallel_for_, *cuda_).load(*packed, device);
}

}  // namespace padlock::api
