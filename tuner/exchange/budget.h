#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace padlock::tuner {

/// Limits of all calls to a server together, whatever it does. Answers nest no deeper than one list.
class ExchangeBudget {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::microseconds;

  static constexpr Duration kTime = std::chrono::seconds(5);    ///< time of all calls together
  static constexpr std::size_t kBytes = std::size_t{64} << 20;  ///< bytes of all answers together; and of one export
  static constexpr std::size_t kElements = 16384;               ///< elements of all lists together
  static constexpr std::size_t kLineBytes = std::size_t{64} << 10;  ///< bytes of a line; an error is one line

  explicit ExchangeBudget(Duration time) : time_(time) {}

  /// Marks a call to the server: the budget's time runs only while a Call lives.
  class Call {
   public:
    explicit Call(ExchangeBudget& budget) : budget_(budget) { budget_.end_ = Clock::now() + budget_.time_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { budget_.time_ = budget_.time_left(); }

   private:
    ExchangeBudget& budget_;  // borrowed
  };

  /// Precondition: a Call lives.
  [[nodiscard]] Duration time_left() const {
    return std::max(std::chrono::duration_cast<Duration>(end_ - Clock::now()), Duration(0));
  }
  [[nodiscard]] std::size_t bytes_left() const { return bytes_; }
  /// Precondition: at least `count` bytes are left.
  void take_bytes(std::size_t count) { bytes_ -= count; }
  /// Returns false, and takes none, if fewer are left.
  [[nodiscard]] bool take_elements(std::size_t count) {
    if (count > elements_) return false;
    elements_ -= count;
    return true;
  }

 private:
  Duration time_;
  Clock::time_point end_;  // end of the current call
  std::size_t bytes_ = kBytes, elements_ = kElements;
};

}  // namespace padlock::tuner
