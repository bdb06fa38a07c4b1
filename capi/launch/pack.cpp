#include "capi/launch/pack.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/launch/kernel.h"
#include "capi/launch/program.h"
#include "capi/options.h"
#include "capi/text.h"
#include "session/launch/pack_json.h"

namespace padlock::capi {
namespace {

Result<padlock_kernel*> kernel_of(padlock_pack& pack, const char* program, const char* device_name) {
  padlock_context& context = *pack.context;
  PADLOCK_TRY(const runtime::PackProgram* const packed, pack.pack->find(text_or(program, "")));
  const std::string identity = fmt::format("pack {} {}", pack.fingerprint, packed->name);
  const std::string_view name = text_or(device_name, "host");
  const KernelKey key{.text = identity, .device = name, .target = "", .config = ""};
  const auto make = [&]() -> Result<padlock_kernel*> {
    PADLOCK_TRY(const runtime::DeviceId device, runtime::DeviceId::parse(name));
    PADLOCK_TRY(session::CompiledProgram loaded, context.launching->load(*pack.pack, packed->name, device));
    return padlock_kernel::make(context, std::move(loaded));
  };
  return context.kernels.find_or_compile(key, std::ref(make));  // by reference: a copy would allocate
}

Result<padlock_program*> program_of(padlock_pack& pack, const char* name) {
  PADLOCK_TRY(const runtime::PackProgram* const packed, pack.pack->find(text_or(name, "")));
  return parse(*pack.context, std::string(packed->text), {});
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Result;
using padlock::runtime::PackFile;

extern "C" {

PADLOCK_COUNTED_HANDLE(pack)

padlock_status padlock_pack_load(padlock_context* context, const char* path, padlock_pack** pack,
                                 padlock_error** error) {
  return guarded_handle(context, "a context", pack, error, [&]() -> Result<padlock_pack*> {
    PADLOCK_CHECK(require(path, "a path"));
    PADLOCK_TRY(auto loaded, PackFile::load(path));
    return make<padlock_pack>(context->allocator(), 0, *context, std::move(loaded));
  });
}

padlock_status padlock_pack_read(padlock_context* context, const void* bytes, size_t size, padlock_pack** pack,
                                 padlock_error** error) {
  return guarded_handle(context, "a context", pack, error, [&]() -> Result<padlock_pack*> {
    if (size > 0) PADLOCK_CHECK(require(bytes, "a pack's bytes"));
    const auto* const first = static_cast<const std::byte*>(bytes);
    PADLOCK_TRY(auto read, PackFile::parse({first, first + size}));
    return make<padlock_pack>(context->allocator(), 0, *context, std::move(read));
  });
}

size_t padlock_pack_program_count(const padlock_pack* pack) { return pack != nullptr ? pack->names.size() : 0; }

const char* padlock_pack_program_name(const padlock_pack* pack, size_t index) {
  return pack != nullptr && index < pack->names.size() ? pack->names[index].c_str() : "";
}

padlock_status padlock_pack_program(padlock_pack* pack, const char* name, padlock_program** program,
                                    padlock_error** error) {
  return guarded_handle(pack, "a pack", program, error, [&] { return program_of(*pack, name); });
}

padlock_status padlock_pack_kernel(padlock_pack* pack, const char* name, const char* device, padlock_kernel** kernel,
                                   padlock_error** error) {
  return guarded_handle(pack, "a pack", kernel, error, [&] { return kernel_of(*pack, name, device); });
}

const void* padlock_pack_data(const padlock_pack* pack) {
  return pack != nullptr ? pack->pack->bytes().data() : nullptr;
}
size_t padlock_pack_size(const padlock_pack* pack) { return pack != nullptr ? pack->pack->bytes().size() : 0; }

padlock_status padlock_pack_describe(const padlock_pack* pack, padlock_text** json, padlock_error** error) {
  return guarded_handle(pack, "a pack", json, error, [&] {
    return make_text(pack->allocator(), padlock::session::to_json(pack->pack->contents()));
  });
}

}  // extern "C"
