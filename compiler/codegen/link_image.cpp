#include "compiler/codegen/link_image.h"

#include <algorithm>
#include <array>
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

#include "support/cpu/architecture.h"

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

/// The bits at a relocation's place that are replaced, and by what.
enum class Field : std::uint8_t {
  none,
  word,    // by the distance to the symbol, 32 bits
  words,   // the same, 64 bits
  branch,  // an instruction's 26 bits, by the distance in instructions
  page,    // an instruction's 21 bits, in two parts, by the distance in pages
  low,     // an instruction's 12 bits, by the symbol's place in its page, in units of the access
};

struct Relocation {
  std::uint16_t machine;
  std::uint32_t type;
  Field field;
  int unit = 0;  // of `low`: the logarithm of its bytes
};

// The relocations of code of the small code model that names data and functions of its own. Sources: the psABI
// supplement for x86-64, table 4.9; "ELF for the Arm 64-bit Architecture", section 5.7.
constexpr auto kRelocations = std::to_array<Relocation>({
    {llvm::ELF::EM_X86_64, llvm::ELF::R_X86_64_NONE, Field::none},
    {llvm::ELF::EM_X86_64, llvm::ELF::R_X86_64_PC32, Field::word},
    {llvm::ELF::EM_X86_64, llvm::ELF::R_X86_64_PLT32, Field::word},
    {llvm::ELF::EM_X86_64, llvm::ELF::R_X86_64_PC64, Field::words},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_NONE, Field::none},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_PREL32, Field::word},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_PREL64, Field::words},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_CALL26, Field::branch},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_JUMP26, Field::branch},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_ADR_PREL_PG_HI21, Field::page},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_ADD_ABS_LO12_NC, Field::low, 0},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_LDST8_ABS_LO12_NC, Field::low, 0},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_LDST16_ABS_LO12_NC, Field::low, 1},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_LDST32_ABS_LO12_NC, Field::low, 2},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_LDST64_ABS_LO12_NC, Field::low, 3},
    {llvm::ELF::EM_AARCH64, llvm::ELF::R_AARCH64_LDST128_ABS_LO12_NC, Field::low, 4},
});

/// `adrp` counts in these whatever the system's pages are, which are multiples.
constexpr std::int64_t kPage = 4096;

/// The value of a relocated field, and the bits of its 4 or 8 bytes that it fills. There is none if it does not fit.
struct Patch {
  std::uint64_t value, mask;
};
std::optional<Patch> patch_of(const Relocation& relocation, std::int64_t place, std::int64_t target) {
  const std::int64_t distance = target - place;
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  switch (relocation.field) {
    case Field::word:
      if (!llvm::isInt<32>(distance)) return std::nullopt;
      return Patch{bits(distance) & 0xFFFF'FFFF, 0xFFFF'FFFF};
    case Field::branch:
      if (!llvm::isShiftedInt<26, 2>(distance)) return std::nullopt;
      return Patch{bits(distance >> 2) & 0x3FF'FFFF, 0x3FF'FFFF};
    case Field::page: {
      const std::int64_t pages = target / kPage - place / kPage;
      if (!llvm::isInt<21>(pages)) return std::nullopt;
      return Patch{(bits(pages) & 3) << 29 | (bits(pages >> 2) & 0x7'FFFF) << 5, 0x60FF'FFE0};
    }
    case Field::low:
      if (target % (std::int64_t{1} << relocation.unit) != 0) return std::nullopt;
      return Patch{bits(target % kPage >> relocation.unit) << 10, 0x003F'FC00};
    default:
      return Patch{bits(distance), ~std::uint64_t{0}};
  }
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
    // Fills the gaps between sections with instructions that trap: int3, and udf of 4 bytes.
    bytes_.resize(offset, object_.getEMachine() == llvm::ELF::EM_X86_64 ? std::byte{0xCC} : std::byte{0});
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

  [[nodiscard]] Result<Relocation> known(const ELFRelocationRef& relocation) const {
    const auto* const found = std::ranges::find_if(kRelocations, [&](const Relocation& one) {
      return one.machine == object_.getEMachine() && one.type == relocation.getType();
    });
    if (found != kRelocations.end()) return *found;
    llvm::SmallString<32> name;
    relocation.getTypeName(name);
    return internal_error(
        fmt::format("emitted code has a relocation of type {}; expected relative ones", name.str().str()));
  }

  /// Lets what lies at `place` find the symbol.
  Status resolve(const ELFRelocationRef& relocation, std::size_t place) {
    PADLOCK_TRY(const Relocation kind, known(relocation));
    if (kind.field == Field::none) return {};
    PADLOCK_TRY(const auto addend, result_of("reading its relocations", relocation.getAddend()));
    if (relocation.getSymbol() == object_.symbol_end()) return internal_error("a relocation names no symbol");
    PADLOCK_TRY(const std::size_t symbol, offset_of(*relocation.getSymbol()));
    const std::int64_t target = static_cast<std::int64_t>(symbol) + addend;
    const std::size_t size = kind.field == Field::words ? 8 : 4;
    const std::optional<Patch> patch = patch_of(kind, static_cast<std::int64_t>(place), target);
    if (place + size > bytes_.size() || target < 0 || !patch)
      return internal_error(fmt::format("a relocation at byte {} does not fit", place));
    // Little-endian bytes, as of every architecture that code is made for and of every machine that makes it.
    std::uint64_t found = 0;
    std::memcpy(&found, bytes_.data() + place, size);
    found = (found & ~patch->mask) | patch->value;
    std::memcpy(bytes_.data() + place, &found, size);
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
  if (std::ranges::find(kArchitectures, elf.getEMachine(), &ArchitectureInfo::elf_number) == kArchitectures.end())
    return internal_error(
        fmt::format("expected an object for a CPU, found one of ELF's machine {}", elf.getEMachine()));
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
