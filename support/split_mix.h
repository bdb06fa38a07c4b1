#pragma once

#include <cstdint>

namespace padlock {

/// An endless sequence of numbers, the same for the same seed on every machine (SplitMix64, Steele and others, 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Skips numbers, any count of them in constant time.
  void skip(std::uint64_t count) { state_ += count * kStep; }
  /// Returns a seed that gives the following numbers again.
  [[nodiscard]] std::uint64_t state() const { return state_; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

}  // namespace padlock
