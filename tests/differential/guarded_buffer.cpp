#include "tests/differential/guarded_buffer.h"

#include <sys/mman.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>

namespace padlock::differential {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::byte kCanary{0xC5};

std::size_t first_damaged(std::span<const std::byte> gap) {
  const auto it = std::ranges::find_if(gap, [](std::byte b) { return b != kCanary; });
  return static_cast<std::size_t>(it - gap.begin());
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t pages) : pages_(pages) {
  void* p = mmap(nullptr, (pages + 2) * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();  // the test machine is out of address space: nothing to report it with
  mapping_ = static_cast<std::byte*>(p);
  if (mprotect(mapping_ + kPage, pages * kPage, PROT_READ | PROT_WRITE) != 0) std::abort();
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, (pages_ + 2) * kPage); }

void GuardedBuffer::place(std::size_t bytes, Placement placement, std::size_t skew) {
  std::byte* const first = mapping_ + kPage;
  std::byte* const last = first + pages_ * kPage;
  data_ = placement == Placement::after_guard ? first + skew : last - bytes - skew;
  size_ = bytes;
  std::ranges::fill(before(), kCanary);
  std::ranges::fill(after(), kCanary);
}

std::span<std::byte> GuardedBuffer::before() const { return {mapping_ + kPage, data_}; }
std::span<std::byte> GuardedBuffer::after() const { return {data_ + size_, mapping_ + (pages_ + 1) * kPage}; }

std::string GuardedBuffer::damage() const {
  if (const std::size_t i = first_damaged(before()); i != before().size())
    return fmt::format("byte {} before the buffer was overwritten", before().size() - i);
  if (const std::size_t i = first_damaged(after()); i != after().size())
    return fmt::format("byte {} past the end of the buffer was overwritten", i);
  return {};
}

GuardedBuffer& GuardedArena::acquire(std::size_t bytes, Placement placement, std::size_t skew) {
  const std::size_t pages = std::max<std::size_t>(1, (bytes + skew + kPage - 1) / kPage);
  auto& free = free_[pages];
  if (free.empty()) free.push_back(std::unique_ptr<GuardedBuffer>(new GuardedBuffer(pages)));
  used_.push_back(std::move(free.back()));
  free.pop_back();
  used_.back()->place(bytes, placement, skew);
  return *used_.back();
}

void GuardedArena::release_all() {
  for (auto& buffer : used_) free_[buffer->pages_].push_back(std::move(buffer));
  used_.clear();
}

}  // namespace padlock::differential
