#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace padlock {

/// An array on the stack up to `kInline` elements, which suffice for all but unusual programs, so that binding and
/// launching allocate nothing for it. Elements of plain types are uninitialized: the creator fills them.
template <class T, std::size_t kInline = 32>
class StackArray {
 public:
  explicit StackArray(std::size_t count) : count_(count) {  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (count > kInline) {
      heap_ = std::make_unique_for_overwrite<T[]>(count);
      data_ = heap_.get();
    }
  }
  StackArray(const StackArray&) = delete;
  StackArray& operator=(const StackArray&) = delete;

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] std::span<T> span() { return {data_, count_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, count_}; }

 private:
  std::size_t count_;
  std::array<T, kInline> inline_;
  std::unique_ptr<T[]> heap_;
  T* data_ = inline_.data();
};

}  // namespace padlock
