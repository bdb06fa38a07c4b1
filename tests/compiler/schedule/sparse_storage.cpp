#include "tests/compiler/schedule/sparse_storage.h"

#include <sys/mman.h>

#include <algorithm>

namespace padlock::compiler {
namespace {

constexpr std::int64_t kPage = 4096;

/// How much of the storage is there on each side of a window, so that an access that is wrong but inside the storage
/// is seen as a wrong value, not as a crash. The kernel may refuse the larger ones.
constexpr std::int64_t kMargins[] = {std::int64_t{1} << 40, std::int64_t{1} << 36, std::int64_t{1} << 20};

}  // namespace

bool SparseStorage::reset(ByteSpan span) {
  if (whole_ && bytes_ <= kWholeBytes) {
    if (map(0, bytes_)) return true;
    whole_ = false;
  }
  for (const std::int64_t margin : kMargins) {
    const std::int64_t first = std::max<std::int64_t>(0, span.first - margin);
    if (map(first / kPage * kPage, std::min(bytes_, span.last + margin))) return true;
  }
  return false;
}

std::byte* SparseStorage::at(std::int64_t offset) const {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(mapping_) +
                                      static_cast<std::uintptr_t>(offset - first_));
}

/// A new mapping in place of the old one: that also drops the page tables, which at one page here and there are as
/// large as the pages.
bool SparseStorage::map(std::int64_t first, std::int64_t last) {
  unmap();
  const std::int64_t bytes = std::max<std::int64_t>(last - first, 1);
  void* p = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  mapping_ = p;
  first_ = first;
  mapped_ = bytes;
  // Where huge pages are the default, every touched byte would cost one.
  madvise(p, static_cast<std::size_t>(bytes), MADV_NOHUGEPAGE);
  return true;
}

void SparseStorage::unmap() {
  if (mapping_ != nullptr) munmap(mapping_, static_cast<std::size_t>(mapped_));
  mapping_ = nullptr;
}

}  // namespace padlock::compiler
