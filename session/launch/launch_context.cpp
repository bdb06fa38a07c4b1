#include "session/launch/launch_context.h"

#include "session/launch/compiled_state.h"
#include "session/launch/pack_loader.h"

namespace padlock::session {

LaunchContext::LaunchContext(const LaunchOptions& options)
    : pool_(options.threads),
      devices_({.parallel_for = options.parallel_for.value_or(pool_.as_parallel_for()),
                .cuda_context = options.cuda_context}) {}

Result<CompiledProgram> LaunchContext::interpret(const Program& program) {
  PADLOCK_TRY(const runtime::Device* const device, devices_.open({runtime::DeviceKind::reference}));
  const std::shared_ptr<CompiledProgram::State> state = make_state(program, *device);
  PADLOCK_TRY(state->loaded, device->load(program.ir(), {}));
  return CompiledProgram(state);
}

Result<CompiledProgram> LaunchContext::load(const runtime::PackFile& pack, std::string_view program,
                                            runtime::DeviceId device) {
  PADLOCK_TRY(const runtime::PackProgram* const packed, pack.find(program));
  PADLOCK_TRY(const runtime::Device* const opened, devices_.open(device));
  PADLOCK_TRY(PackLoader::State state, PackLoader(*opened).load(*packed));
  return CompiledProgram(std::move(state));
}

}  // namespace padlock::session
