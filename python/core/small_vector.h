#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace padlock::python {

/// A list with the lifetime of a call; a short one allocates nothing. For types that may be copied as bytes.
template <class T, std::size_t kInline>
class SmallVector {
 public:
  SmallVector() = default;

  void push_back(T value) {
    if (size_ < kInline)
      few_[size_++] = value;
    else
      push_back_more(value);
  }
  void assign(std::size_t count, T value) {
    size_ = 0;
    more_.clear();
    for (std::size_t i = 0; i < count; ++i) push_back(value);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return size_ > kInline ? more_.data() : few_.data(); }
  [[nodiscard]] const T* data() const { return size_ > kInline ? more_.data() : few_.data(); }
  T& operator[](std::size_t index) { return data()[index]; }
  const T& operator[](std::size_t index) const { return data()[index]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  // NOLINTNEXTLINE: as std::vector is one
  operator std::span<const T>() const { return {data(), size_}; }

 private:
  [[gnu::noinline]] void push_back_more(T value) {
    if (size_ == kInline) more_.assign(few_.begin(), few_.end());
    more_.push_back(value);
    ++size_;
  }

  std::size_t size_ = 0;
  std::array<T, kInline> few_;  // uninitialized until used
  std::vector<T> more_;         // all of it, once it does not fit above
};

}  // namespace padlock::python
