#include "runtime/host/host_image.h"

#include <utility>

#include <fmt/format.h>

namespace padlock::runtime {

Result<HostImage> load_image(abi::CompiledCode code) {
  if (code.kind != abi::CodeKind::host_image) return internal_error("expected code for a CPU, found PTX");
  HostImage image;
  PADLOCK_TRY(image.code, CodeMemory::map(code.bytes));
  for (std::vector<abi::KernelVariant>& variants : code.kernels) {
    std::vector<HostVariant>& loaded = image.kernels.emplace_back();
    for (abi::KernelVariant& variant : variants) {
      if (variant.offset >= code.bytes.size())
        return internal_error(fmt::format("kernel {} begins at byte {} of an image of {}", variant.abi.name,
                                          variant.offset, code.bytes.size()));
      const auto address = reinterpret_cast<std::uintptr_t>(image.code->data() + variant.offset);
      // NOLINTNEXTLINE(performance-no-int-to-ptr): code, to which no pointer to data leads
      loaded.push_back({.abi = std::move(variant.abi), .entry = reinterpret_cast<abi::HostEntry>(address)});
    }
  }
  return image;
}

}  // namespace padlock::runtime
