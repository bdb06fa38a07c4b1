#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace padlock::runtime {

/// An array that a launch fills: on the stack up to a size that all but odd programs keep to, so that launching
/// allocates nothing.
template <class T>
class LaunchArray {
 public:
  explicit LaunchArray(std::size_t count) : count_(count) {
    if (count > inline_.size()) {
      heap_ = std::make_unique<T[]>(count);
      data_ = heap_.get();
    }
  }
  LaunchArray(const LaunchArray&) = delete;
  LaunchArray& operator=(const LaunchArray&) = delete;

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] std::span<const T> span() const { return {data_, count_}; }

 private:
  std::size_t count_;
  std::array<T, 32> inline_{};
  std::unique_ptr<T[]> heap_;
  T* data_ = inline_.data();
};

}  // namespace padlock::runtime
