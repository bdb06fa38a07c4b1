#include <utility>

#include "api/context.h"
#include "capi/compile_options.h"
#include "capi/error.h"
#include "capi/options.h"

struct padlock_memory : padlock::capi::Counted<padlock_memory> {
  padlock_memory(padlock_context& owner, padlock::api::DeviceMemory allocated)
      : context(padlock::capi::Ref<padlock_context>::to(&owner)), memory(std::move(allocated)) {}

  const padlock::capi::Ref<padlock_context> context;  // before the memory, which goes first
  const padlock::api::DeviceMemory memory;
};

using namespace padlock::capi;
using padlock::Result;
using padlock::Status;
using padlock::api::Device;
using padlock::api::DeviceMemory;

extern "C" {

PADLOCK_COUNTED_HANDLE(memory)

padlock_status padlock_memory_allocate(padlock_context* context, const char* device, int64_t bytes, const char* name,
                                       padlock_memory** memory, padlock_error** error) {
  return guarded_handle(allocator_of(context), memory, error, [&]() -> Result<padlock_memory*> {
    PADLOCK_CHECK(require(context, "a context"));
    PADLOCK_TRY(const Device where, Device::parse(text_or(device, "host")));
    const std::string what(text_or(name, "a tensor"));
    PADLOCK_TRY(DeviceMemory allocated, compiler_of(*context).allocate(where, bytes, what));
    return make<padlock_memory>(context->allocator(), 0, *context, std::move(allocated));
  });
}

void* padlock_memory_data(const padlock_memory* memory) { return memory != nullptr ? memory->memory.data() : nullptr; }
int64_t padlock_memory_bytes(const padlock_memory* memory) { return memory != nullptr ? memory->memory.bytes() : 0; }

padlock_status padlock_memory_copy(padlock_memory* to, int64_t to_offset, const padlock_memory* from,
                                   int64_t from_offset, int64_t bytes, padlock_error** error) {
  return guarded(allocator_of(to), error, [&]() -> Status {
    PADLOCK_CHECK(require(to, "memory to copy to"));
    PADLOCK_CHECK(require(from, "memory to copy from"));
    return DeviceMemory::copy(to->memory, to_offset, from->memory, from_offset, bytes);
  });
}

}  // extern "C"
