#include "runtime/host/host_image.h"

#include <utility>

#include <fmt/format.h>

namespace padlock::runtime {
namespace {

template <class Function>
Result<Function> function_at(const CodeMemory& memory, const abi::CompiledCode& code, const abi::KernelAbi& abi,
                             std::size_t offset) {
  if (offset >= code.bytes.size())
    return internal_error(
        fmt::format("kernel {} begins at byte {} of an image of {}", abi.name, offset, code.bytes.size()));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): code, to which no pointer to data leads
  return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(memory.data() + offset));
}

}  // namespace

Result<HostImage> load_image(abi::CompiledCode code) {
  if (code.kind != abi::CodeKind::host_image) return internal_error("expected code for a CPU, found PTX");
  HostImage image;
  PADLOCK_TRY(image.code, CodeMemory::map(code.bytes));
  for (std::vector<abi::KernelVariant>& variants : code.kernels) {
    std::vector<HostVariant>& loaded = image.kernels.emplace_back();
    for (abi::KernelVariant& variant : variants) {
      HostVariant& made = loaded.emplace_back(HostVariant{.abi = std::move(variant.abi)});
      PADLOCK_TRY(made.entry, function_at<abi::HostEntry>(*image.code, code, made.abi, variant.offset));
      if (!variant.planner) continue;
      PADLOCK_TRY(made.planner, function_at<abi::HostPlanner>(*image.code, code, made.abi, *variant.planner));
    }
  }
  return image;
}

}  // namespace padlock::runtime
