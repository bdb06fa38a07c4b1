#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"
#include "tuner/exchange/budget.h"

namespace padlock::tuner {

/// A connection to a server whose calls wait no longer than a budget allows, and never raise a signal. Not thread-safe.
/// Errors (unavailable) are the system's, without the server's name.
class Socket {
 public:
  /// `budget`: borrowed. All calls need a live ExchangeBudget::Call.
  explicit Socket(ExchangeBudget& budget) : budget_(budget) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  /// Connects to the first of the host's addresses that accepts. Looking up a name takes the system's own time, beyond
  /// the budget; an address needs no look-up.
  [[nodiscard]] Status connect(const std::string& host, int port);
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void close();

  [[nodiscard]] Status send(std::string_view bytes);
  /// Waits for bytes and returns their number, at least 1. Error also: the server closed the connection, or the budget
  /// has no more bytes.
  [[nodiscard]] Result<std::size_t> receive(std::span<char> into);
  /// Returns whether bytes can be received now.
  [[nodiscard]] bool has_bytes() const;

 private:
  [[nodiscard]] Status wait(short events) const;

  ExchangeBudget& budget_;
  int fd_ = -1;
};

}  // namespace padlock::tuner
