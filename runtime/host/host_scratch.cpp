#include "runtime/host/host_scratch.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/host/allocation.h"
#include "runtime/host/system_memory.h"

namespace padlock::runtime {
namespace {

constexpr std::uintptr_t kFar = ScratchMemory::kInaccessibleBytes;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 47;  // the address space of one process

std::uintptr_t round_up(std::uintptr_t value, std::uintptr_t unit) { return (value + unit - 1) / unit * unit; }

class HostScratch final : public ScratchMemory {
 public:
  HostScratch(void* mapping, std::size_t mapped, std::uintptr_t first, std::int64_t bytes)
      : mapping_(mapping), mapped_(mapped) {
    address_ = first;
    bytes_ = bytes;
  }
  ~HostScratch() override { ::munmap(mapping_, mapped_); }

  Status write(std::int64_t offset, std::span<const std::byte> from) override {
    std::ranges::copy(from, at(offset));  // an empty tensor copies nothing, from a null pointer
    return {};
  }
  Status read(std::int64_t offset, std::span<std::byte> to) const override {
    std::copy_n(at(offset), to.size(), to.data());
    return {};
  }
  Status fill(std::int64_t offset, std::byte value, std::int64_t count) override {
    std::memset(at(offset), std::to_integer<int>(value), static_cast<std::size_t>(count));
    return {};
  }
  Status copy(std::int64_t offset, const ScratchMemory& from, std::int64_t from_offset, std::int64_t count) override {
    const auto& other = static_cast<const HostScratch&>(from);
    std::copy_n(other.at(from_offset), count, at(offset));
    return {};
  }
  Result<bool> equals(std::int64_t offset, std::span<const std::byte> expected) const override {
    return expected.empty() || std::memcmp(at(offset), expected.data(), expected.size()) == 0;
  }

 private:
  [[nodiscard]] std::byte* at(std::int64_t offset) const {
    return std::bit_cast<std::byte*>(address_ + static_cast<std::uintptr_t>(offset));
  }
  void* mapping_;  // owned, including the inaccessible pages
  std::size_t mapped_;
};

std::unexpected<Error> not_mapped(const std::string& what, std::int64_t bytes) {
  return resource_exhausted(fmt::format("{} needs {} bytes of scratch memory: {}", what, bytes, std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<ScratchMemory>> HostScratchSpace::map(std::int64_t bytes, std::int64_t aligned,
                                                             const std::string& what) {
  if (bytes <= 0 || bytes > kMostBytes)
    return resource_exhausted(fmt::format("{} cannot have {} bytes of scratch memory", what, bytes));
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t accessible = round_up(static_cast<std::uintptr_t>(bytes), page);
  const std::uintptr_t unit = fills_huge_page(accessible) ? kHugePage : page;
  const auto before = static_cast<std::uintptr_t>(aligned);
  // Addresses cost nothing: an additional unit makes room to align byte `aligned`.
  const std::uintptr_t mapped = 2 * kFar + accessible + unit;
  void* const mapping = ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return not_mapped(what, bytes);
  const std::uintptr_t lowest = reinterpret_cast<std::uintptr_t>(mapping) + kFar;
  const std::uintptr_t first = round_up(lowest + before, unit) - before;
  auto memory = std::make_unique<HostScratch>(mapping, mapped, first, static_cast<std::int64_t>(accessible));
  auto* const begin = std::bit_cast<void*>(first);
  if (::mprotect(begin, accessible, PROT_READ | PROT_WRITE) != 0) return not_mapped(what, bytes);
  if (unit == kHugePage) ::madvise(begin, accessible, MADV_HUGEPAGE);  // advice only: a failure changes nothing
  return memory;
}

Result<std::int64_t> HostScratchSpace::free_bytes() const { return available_memory(); }

}  // namespace padlock::runtime
