#include <memory>
#include <utility>

#include "capi/error.h"
#include "capi/launch/context.h"
#include "capi/options.h"
#include "runtime/device.h"

struct padlock_memory : padlock::capi::Counted<padlock_memory> {
  padlock_memory(padlock_context& owner, std::unique_ptr<padlock::runtime::DeviceMemory> allocated)
      : context(padlock::capi::Ref<padlock_context>::to(&owner)), memory(std::move(allocated)) {}

  const padlock::capi::Ref<padlock_context> context;  // before the memory, which is released first
  const std::unique_ptr<padlock::runtime::DeviceMemory> memory;
};

using namespace padlock::capi;
using padlock::Result;
using padlock::Status;
using padlock::runtime::DeviceId;
using padlock::runtime::DeviceMemory;

extern "C" {

PADLOCK_COUNTED_HANDLE(memory)

padlock_status padlock_memory_allocate(padlock_context* context, const char* device, int64_t bytes, const char* name,
                                       padlock_memory** memory, padlock_error** error) {
  return guarded_handle(context, "a context", memory, error, [&]() -> Result<padlock_memory*> {
    PADLOCK_TRY(const DeviceId id, DeviceId::parse(text_or(device, "host")));
    PADLOCK_TRY(const padlock::runtime::Device* const where, context->launching->device(id));
    const std::string what(text_or(name, "a tensor"));
    PADLOCK_TRY(auto allocated, where->allocate(bytes, what));
    return make<padlock_memory>(context->allocator(), 0, *context, std::move(allocated));
  });
}

void* padlock_memory_data(const padlock_memory* memory) { return memory != nullptr ? memory->memory->data() : nullptr; }
int64_t padlock_memory_bytes(const padlock_memory* memory) { return memory != nullptr ? memory->memory->bytes() : 0; }

padlock_status padlock_memory_copy(padlock_memory* to, int64_t to_offset, const padlock_memory* from,
                                   int64_t from_offset, int64_t bytes, padlock_error** error) {
  return guarded(to, "memory to copy to", error, [&]() -> Status {
    PADLOCK_CHECK(require(from, "memory to copy from"));
    return DeviceMemory::copy(*to->memory, to_offset, *from->memory, from_offset, bytes);
  });
}

}  // extern "C"
