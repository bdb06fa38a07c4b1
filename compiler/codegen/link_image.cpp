#include "compiler/codegen/link_image.h"

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/MemoryBuffer.h>

namespace padlock::compiler {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::ELFRelocationRef;
using llvm::object::ELFSectionRef;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;

/// Returns whether a section goes into the image. Unwind tables do not: nothing unwinds through a kernel.
bool is_placed(const ELFSectionRef& section, llvm::StringRef name) {
  return (section.getFlags() & llvm::ELF::SHF_ALLOC) != 0 && section.getSize() != 0 && name != ".eh_frame";
}

/// Turns LLVM's result into ours. Error (internal): "LLVM failed while DOING: ...".
template <class Value>
Result<Value> result_of(const char* doing, llvm::Expected<Value> expected) {
  if (expected) return std::move(*expected);
  return internal_error(fmt::format("LLVM failed while {}: {}", doing, llvm::toString(expected.takeError())));
}

class ImageLinker {
 public:
  explicit ImageLinker(const ELFObjectFileBase& object) : object_(object) {}

  Result<std::vector<std::byte>> link() {
    for (const SectionRef& section : object_.sections()) PADLOCK_CHECK(place(section));
    for (const SectionRef& section : object_.sections()) PADLOCK_CHECK(relocate(section));
    return std::move(bytes_);
  }

  /// Returns the functions that other objects see, with their offsets in the image.
  Result<std::map<std::string, std::size_t>> functions() const {
    std::map<std::string, std::size_t> found;
    for (const SymbolRef& symbol : object_.symbols()) {
      PADLOCK_TRY(const std::uint32_t flags, result_of("reading its symbols", symbol.getFlags()));
      if ((flags & SymbolRef::SF_Global) == 0) continue;
      PADLOCK_TRY(const auto name, result_of("reading its symbols", symbol.getName()));
      PADLOCK_TRY(const std::size_t offset, offset_of(symbol));
      found.emplace(name.str(), offset);
    }
    return found;
  }

 private:
  Status place(const ELFSectionRef& section) {
    PADLOCK_TRY(const auto name, result_of("reading its sections", section.getName()));
    if (!is_placed(section, name)) return {};
    if ((section.getFlags() & llvm::ELF::SHF_WRITE) != 0 || section.getType() == llvm::ELF::SHT_NOBITS)
      return internal_error(fmt::format("emitted code has data of its own in {}; expected none", name.str()));
    PADLOCK_TRY(const auto contents, result_of("reading its sections", section.getContents()));
    const std::size_t offset = llvm::alignTo(bytes_.size(), section.getAlignment());
    // Fills the gaps between sections with instructions that trap.
    bytes_.resize(offset, std::byte{0xCC});
    const auto* const first = reinterpret_cast<const std::byte*>(contents.data());
    bytes_.insert(bytes_.end(), first, first + contents.size());
    offsets_.emplace(section.getIndex(), offset);
    return {};
  }

  [[nodiscard]] std::optional<std::size_t> place_of(const SectionRef& section) const {
    const auto found = offsets_.find(section.getIndex());
    return found == offsets_.end() ? std::nullopt : std::optional(found->second);
  }

  Result<std::size_t> offset_of(const SymbolRef& symbol) const {
    PADLOCK_TRY(const auto section, result_of("reading its symbols", symbol.getSection()));
    PADLOCK_TRY(const auto value, result_of("reading its symbols", symbol.getValue()));
    if (section != object_.section_end())
      if (const auto base = place_of(*section)) return *base + value;
    PADLOCK_TRY(const auto name, result_of("reading its symbols", symbol.getName()));
    return internal_error(fmt::format("emitted code imports '{}'; expected no import", name.str()));
  }

  Status relocate(const SectionRef& section) {
    PADLOCK_TRY(const auto patched, result_of("reading its relocations", section.getRelocatedSection()));
    if (patched == object_.section_end()) return {};
    const std::optional<std::size_t> base = place_of(*patched);
    if (!base) return {};
    for (const ELFRelocationRef relocation : section.relocations())
      PADLOCK_CHECK(resolve(relocation, *base + relocation.getOffset()));
    return {};
  }

  /// Writes at `place` the distance from `place` to the symbol.
  Status resolve(const ELFRelocationRef& relocation, std::size_t place) {
    const std::uint64_t type = relocation.getType();
    std::size_t size = 4;
    if (type == llvm::ELF::R_X86_64_NONE) return {};
    if (type == llvm::ELF::R_X86_64_PC64) {
      size = 8;
    } else if (type != llvm::ELF::R_X86_64_PC32 && type != llvm::ELF::R_X86_64_PLT32) {
      llvm::SmallString<32> name;
      relocation.getTypeName(name);
      return internal_error(
          fmt::format("emitted code has a relocation of type {}; expected relative ones", name.str().str()));
    }
    PADLOCK_TRY(const auto addend, result_of("reading its relocations", relocation.getAddend()));
    if (relocation.getSymbol() == object_.symbol_end()) return internal_error("a relocation names no symbol");
    PADLOCK_TRY(const std::size_t target, offset_of(*relocation.getSymbol()));
    const std::int64_t distance = static_cast<std::int64_t>(target) + addend - static_cast<std::int64_t>(place);
    if (place + size > bytes_.size() || (size == 4 && !llvm::isInt<32>(distance)))
      return internal_error(fmt::format("a relocation at byte {} does not fit", place));
    // Copies little-endian bytes, as on this machine.
    std::memcpy(bytes_.data() + place, &distance, size);
    return {};
  }

  const ELFObjectFileBase& object_;
  std::vector<std::byte> bytes_;
  std::map<std::uint64_t, std::size_t> offsets_;  // of the placed sections, by index
};

}  // namespace

Result<abi::CompiledCode> link_image(const llvm::SmallVector<char>& object,
                                     std::vector<std::vector<abi::KernelAbi>> kernels) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "padlock");
  PADLOCK_TRY(const auto file, result_of("reading its object", llvm::object::ObjectFile::createELFObjectFile(buffer)));
  const auto& elf = llvm::cast<ELFObjectFileBase>(*file);
  if (elf.getEMachine() != llvm::ELF::EM_X86_64) return internal_error("expected an object for x86-64");
  ImageLinker linker(elf);
  abi::CompiledCode image{.kind = abi::CodeKind::host_image, .bytes = {}, .kernels = {}};
  PADLOCK_TRY(image.bytes, linker.link());
  PADLOCK_TRY(const auto functions, linker.functions());
  for (std::vector<abi::KernelAbi>& variants : kernels) {
    std::vector<abi::KernelVariant>& entries = image.kernels.emplace_back();
    const auto planner = functions.find(planner_name(variants.front()));  // one for all variants
    for (abi::KernelAbi& abi : variants) {
      const auto found = functions.find(abi.name);
      if (found == functions.end()) return internal_error(fmt::format("emitted code has no function {}", abi.name));
      entries.push_back({std::move(abi), found->second});
      if (planner != functions.end()) entries.back().planner = planner->second;
    }
  }
  return image;
}

}  // namespace padlock::compiler
