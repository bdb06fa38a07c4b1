#include "runtime/host/allocation.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/host/system_memory.h"

namespace padlock::runtime {

Allocation::Allocation(Allocation&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Allocation::~Allocation() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

MemoryBudget MemoryBudget::of_this_process() { return MemoryBudget(available_memory()); }

Result<Allocation> MemoryBudget::allocate(std::int64_t bytes, const std::string& what) {
  if (bytes < 0) return internal_error(fmt::format("{} has {} bytes", what, bytes));
  Allocation allocation;
  if (bytes == 0) return allocation;
  if (bytes > available_)
    return resource_exhausted(fmt::format("{} needs {} bytes of memory, {} are available", what, bytes,
                                          std::max<std::int64_t>(available_, 0)));

  // Huge pages halve the time of a first touch, but only whole aligned pages can be huge.
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t slack = fills_huge_page(size) ? kHugePage : 0;
  void* const mapping =
      ::mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return resource_exhausted(fmt::format("{} needs {} bytes of memory: {}", what, bytes, std::strerror(errno)));
  auto* first = static_cast<std::byte*>(mapping);
  if (slack != 0) {
    first += -reinterpret_cast<std::uintptr_t>(mapping) & (kHugePage - 1);
    ::madvise(first, size, MADV_HUGEPAGE);  // advice only: a failure changes nothing
  }
  allocation.data_ = first;
  allocation.bytes_ = bytes;
  allocation.mapping_ = mapping;
  allocation.mapped_ = size + slack;
  available_ -= bytes;
  return allocation;
}

}  // namespace padlock::runtime
