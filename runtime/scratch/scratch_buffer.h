#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ir/binding/binding.h"
#include "ir/dtype.h"
#include "ir/layout.h"
#include "runtime/comparison.h"
#include "runtime/scratch_memory.h"
#include "support/error.h"

namespace padlock::runtime {

class Queue;  // runtime/device.h

/// Placement of a tensor in its scratch memory.
enum class Placement : std::uint8_t {
  red_zones,  ///< between red zones, which show a store outside
  flush_end,  ///< its end touches inaccessible memory: a load past it faults
};

/// Memory for trying one tensor of a program, with the size of its layout under a binding; the same expression sizes a
/// caller's buffers. A caller's memory is a UserBuffer, and neither converts to the other (rule R3). Only a launch
/// (runtime/scratch/scratch_launch.h) makes a BufferView of it. Movable, not thread-safe.
class ScratchBuffer {
 public:
  /// Least bytes of a red zone, on either side.
  static constexpr std::int64_t kRedZoneBytes = std::int64_t{64} << 10;

  /// Returns an unarmed buffer with undefined bytes. The space must outlive it. `name` is for messages. Errors as
  /// ScratchSpace::map.
  [[nodiscard]] static Result<ScratchBuffer> allocate(ScratchSpace& space, const ir::Binding& binding,
                                                      const ir::Layout& layout, ir::DType dtype,
                                                      const std::string& name);
  /// Largest skew of a tensor, in elements.
  static constexpr std::int64_t kMostSkew = 4095;

  /// Returns the bytes of memory for a tensor of `bytes` bytes at any placement.
  [[nodiscard]] static std::int64_t footprint(std::int64_t bytes) {
    return bytes + 2 * kRedZoneBytes + kMostSkew * ir::byte_size(ir::DType::f64);  // no type is larger
  }

  /// Returns the bytes of the tensor.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Returns the bytes of memory that the buffer takes: a GPU maps pages of some MiB.
  [[nodiscard]] std::int64_t mapped_bytes() const { return memory_->bytes(); }

  /// Places the tensor and fills everything around it with `red`; the tensor's own bytes are then undefined. The tensor
  /// begins `skew` elements after its place, or ends as many before it, to vary its alignment. Precondition: 0 <= skew
  /// <= kMostSkew.
  [[nodiscard]] Status arm(Placement placement, std::byte red, std::int64_t skew = 0);
  /// Describes the first byte around the tensor that differs from what `arm` wrote: "byte 3 past the end of x was
  /// overwritten"; empty if there is none.
  [[nodiscard]] Result<std::string> damage() const;

  /// Writes all bytes of the tensor. Precondition: exactly as many bytes.
  [[nodiscard]] Status write(std::span<const std::byte> from) { return memory_->write(offset_, from); }
  [[nodiscard]] Status read(std::span<std::byte> to) const { return memory_->read(offset_, to); }
  [[nodiscard]] Result<bool> equals(std::span<const std::byte> expected) const {
    return memory_->equals(offset_, expected);
  }
  [[nodiscard]] Status fill(std::byte value) { return memory_->fill(offset_, value, bytes_); }
  /// Copies from an equally large buffer of the same device.
  [[nodiscard]] Status copy(const ScratchBuffer& from) {
    return memory_->copy(offset_, *from.memory_, from.offset_, bytes_);
  }
  /// Repeats these bytes up to the tensor's end. Precondition: no more bytes than the tensor's.
  [[nodiscard]] Status repeat(std::span<const std::byte> period);
  /// Queues copies that read each byte once. They write to other memory of the space, again and again.
  [[nodiscard]] Status read_into(Queue& queue, ScratchMemory& sink) const;
  /// Returns the number of these copies.
  [[nodiscard]] std::int64_t reads_into(const ScratchMemory& sink) const {
    return (bytes_ + sink.bytes() - 1) / sink.bytes();
  }
  /// Returns the bytes of memory before the tensor.
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  /// Writes one byte, in or around the tensor: `at` is negative before it.
  [[nodiscard]] Status poke(std::int64_t at, std::byte value) {
    return memory_->write(offset_ + at, std::span(&value, 1));
  }

  // On the device.
  /// Expects the bytes of an equally large buffer of the same device.
  [[nodiscard]] Status expect(Comparison& comparison, const ScratchBuffer& same) const {
    return comparison.expect_same(*memory_, offset_, *same.memory_, same.offset_, bytes_);
  }
  /// Expects the bytes around the tensor to be as `arm` left them.
  [[nodiscard]] Status expect_intact(Comparison& comparison) const;

 private:
  friend class ScratchViews;
  ScratchBuffer(std::unique_ptr<ScratchMemory> memory, std::int64_t bytes, std::int64_t element, std::string name)
      : memory_(std::move(memory)), bytes_(bytes), element_(element), name_(std::move(name)) {}
  [[nodiscard]] std::int64_t end() const { return offset_ + bytes_; }
  /// Returns the first byte of a range that is not red, or `count`.
  [[nodiscard]] Result<std::int64_t> first_damaged(std::int64_t first, std::int64_t count) const;

  std::unique_ptr<ScratchMemory> memory_;
  std::int64_t bytes_;
  std::int64_t element_;  // bytes
  std::string name_;
  std::int64_t offset_ = kRedZoneBytes;  // the tensor's offset in the memory
  std::byte red_{};
};

}  // namespace padlock::runtime
