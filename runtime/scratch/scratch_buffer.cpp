#include "runtime/scratch/scratch_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/device.h"

namespace padlock::runtime {

Result<ScratchBuffer> ScratchBuffer::allocate(ScratchSpace& space, const ir::Binding& binding, const ir::Layout& layout,
                                              ir::DType dtype, const std::string& name) {
  const std::int64_t element = ir::byte_size(dtype);
  const std::int64_t elements = binding(layout.storage_extent());
  if (elements < 0 || elements >= ir::kMaxStorageBytes / element)
    return failed_precondition(fmt::format("the storage of {} is below 2^47 bytes: it has {} elements of {}", name,
                                           elements, ir::name_of(dtype)));
  PADLOCK_TRY(auto memory, space.map(footprint(elements * element), kRedZoneBytes, name));
  return ScratchBuffer(std::move(memory), elements * element, element, name);
}

Status ScratchBuffer::arm(Placement placement, std::byte red, std::int64_t skew) {
  const std::int64_t skewed = skew * element_;
  offset_ = placement == Placement::red_zones ? kRedZoneBytes + skewed : memory_->bytes() - bytes_ - skewed;
  red_ = red;
  PADLOCK_CHECK(memory_->fill(0, red, offset_));
  return memory_->fill(end(), red, memory_->bytes() - end());
}

Result<std::int64_t> ScratchBuffer::first_damaged(std::int64_t first, std::int64_t count) const {
  std::vector<std::byte> red(static_cast<std::size_t>(std::min(count, kRedZoneBytes)), red_);
  for (std::int64_t done = 0; done < count;) {
    const std::span part = std::span(red).first(static_cast<std::size_t>(std::min(count - done, kRedZoneBytes)));
    PADLOCK_TRY(const bool intact, memory_->equals(first + done, part));
    if (!intact) {
      PADLOCK_CHECK(memory_->read(first + done, part));
      return done + (std::ranges::find_if(part, [this](std::byte b) { return b != red_; }) - part.begin());
    }
    done += static_cast<std::int64_t>(part.size());
  }
  return count;
}

Status ScratchBuffer::repeat(std::span<const std::byte> period) {
  PADLOCK_CHECK(memory_->write(offset_, period));
  return period.empty() ? Status() : memory_->repeat(offset_, std::ssize(period), bytes_);
}

Status ScratchBuffer::read_into(Queue& queue, ScratchMemory& sink) const {
  const auto pointer = [](std::uintptr_t address) { return std::bit_cast<void*>(address); };
  const std::uintptr_t begin = memory_->address() + static_cast<std::uintptr_t>(offset_);
  for (std::int64_t done = 0; done < bytes_; done += sink.bytes())
    PADLOCK_CHECK(queue.copy(pointer(sink.address()), pointer(begin + static_cast<std::uintptr_t>(done)),
                             std::min(sink.bytes(), bytes_ - done)));
  return {};
}

Status ScratchBuffer::expect_intact(Comparison& comparison) const {
  PADLOCK_CHECK(comparison.expect_filled(*memory_, 0, red_, offset_));
  return comparison.expect_filled(*memory_, end(), red_, memory_->bytes() - end());
}

Result<std::string> ScratchBuffer::damage() const {
  const std::int64_t after = memory_->bytes() - end();
  PADLOCK_TRY(const std::int64_t past, first_damaged(end(), after));
  if (past < after) return fmt::format("byte {} past the end of {} was overwritten", past, name_);
  PADLOCK_TRY(const std::int64_t before, first_damaged(0, offset_));
  if (before < offset_)
    return fmt::format("byte {} before the beginning of {} was overwritten", offset_ - before, name_);
  return std::string();
}

}  // namespace padlock::runtime
