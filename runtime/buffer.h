#pragma once

#include <cstdint>

namespace padlock::runtime {

/// Memory of a caller: `bytes` bytes from `data` on. Borrowed; the caller keeps it alive and, for inputs, unchanged
/// while a launch runs. No function of the tuner takes one (rule R3): the tuner has ScratchBuffers, and neither
/// converts to the other.
class UserBuffer {
 public:
  UserBuffer() = default;
  UserBuffer(void* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}
  /// An input is only read; one type serves both, as kernels take one array of pointers.
  UserBuffer(const void* data, std::int64_t bytes) : data_(const_cast<void*>(data)), bytes_(bytes) {}

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// BufferView is a buffer that a launch reads or writes, whoever owns it. Only a launch call makes one.
class BufferView {
 public:
  BufferView() = default;  ///< empty: a launch reserves more of them than it has
  explicit BufferView(const UserBuffer& buffer) : data_(buffer.data()), bytes_(buffer.bytes()) {}

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  friend class ScratchViews;
  BufferView(void* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  std::int64_t bytes_;
};

}  // namespace padlock::runtime
