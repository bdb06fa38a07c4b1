#include "capi/launch/kernel.h"

padlock_kernel* padlock_kernel::make(padlock_context& context, padlock::session::CompiledProgram compiled) {
  const padlock::capi::Block block{context.allocator(), sizeof(padlock_kernel), alignof(padlock_kernel)};
  void* const memory = block.allocate();
  try {
    auto* const kernel = new (memory) padlock_kernel(context, std::move(compiled), block);
    kernel->retain();
    return kernel;
  } catch (...) {
    block.give_back(memory);
    throw;
  }
}

void padlock_kernel::destroy(padlock_kernel* kernel) noexcept {
  const padlock::capi::Block block = kernel->block_;
  kernel->~padlock_kernel();
  block.give_back(kernel);
}

using namespace padlock::capi;

extern "C" {

PADLOCK_COUNTED_HANDLE(kernel)

const char* padlock_kernel_target(const padlock_kernel* kernel) {
  return kernel != nullptr ? kernel->target.c_str() : "";
}
const char* padlock_kernel_config(const padlock_kernel* kernel) {
  return kernel != nullptr ? kernel->config.c_str() : "";
}

}  // extern "C"
