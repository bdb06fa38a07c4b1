#include "runtime/scratch_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace padlock::runtime {

Result<bool> ScratchMemory::equals(std::int64_t offset, std::span<const std::byte> expected) const {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::byte> piece(std::min(kPiece, expected.size()));
  while (!expected.empty()) {
    const std::size_t count = std::min(kPiece, expected.size());
    PADLOCK_CHECK(read(offset, std::span(piece).first(count)));
    if (std::memcmp(piece.data(), expected.data(), count) != 0) return false;
    offset += static_cast<std::int64_t>(count);
    expected = expected.subspan(count);
  }
  return true;
}

Status ScratchMemory::repeat(std::int64_t offset, std::int64_t period, std::int64_t count) {
  for (std::int64_t done = period; done < count; done += std::min(done, count - done))
    PADLOCK_CHECK(copy(offset + done, *this, offset, std::min(done, count - done)));
  return {};
}

}  // namespace padlock::runtime
