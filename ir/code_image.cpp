#include "ir/code_image.h"

#include <ranges>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "support/code_memory.h"

namespace padlock::ir {
namespace {

using Code = std::shared_ptr<const CodeMemory>;

class ImageExecutable final : public HostExecutable {
 public:
  ImageExecutable(ImageEntry entry, Code code, std::unique_ptr<ImageExecutable> variant)
      : entry_(std::move(entry)), code_(std::move(code)), specialised_(std::move(variant)) {}
  [[nodiscard]] const KernelAbi& abi() const override { return entry_.abi; }
  [[nodiscard]] HostEntry entry() const override {
    return reinterpret_cast<HostEntry>(reinterpret_cast<std::uintptr_t>(code_->data() + entry_.offset));
  }
  [[nodiscard]] const HostExecutable* specialised() const override { return specialised_.get(); }

 private:
  ImageEntry entry_;
  Code code_;  // shared by the kernels of one program
  std::unique_ptr<ImageExecutable> specialised_;
};

}  // namespace

Result<HostExecutables> load_image(CodeImage image) {
  PADLOCK_TRY(const Code code, CodeMemory::map(image.bytes));
  HostExecutables executables;
  for (std::vector<ImageEntry>& variants : image.kernels) {
    std::unique_ptr<ImageExecutable> made;
    for (ImageEntry& entry : variants | std::views::reverse) {
      if (entry.offset >= image.bytes.size())
        return internal_error(fmt::format("kernel {} begins at byte {} of an image of {}", entry.abi.name, entry.offset,
                                          image.bytes.size()));
      made = std::make_unique<ImageExecutable>(std::move(entry), code, std::move(made));
    }
    executables.push_back(std::move(made));
  }
  return executables;
}

}  // namespace padlock::ir
