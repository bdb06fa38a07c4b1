#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"
#include "tuner/exchange/budget.h"

namespace padlock::tuner {

/// A connection to a server, which nothing waits for longer than a budget allows, and of which no signal is raised. Not
/// thread-safe. Errors of all calls (unavailable) say what the system says, without the server's name.
class Socket {
 public:
  /// `budget`: borrowed; within a call of it.
  explicit Socket(ExchangeBudget& budget) : budget_(budget) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  /// Connects to the first of the host's addresses that takes it. The system looks the name up, in its own time; an
  /// address it need not.
  [[nodiscard]] Status connect(const std::string& host, int port);
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void close();

  [[nodiscard]] Status send(std::string_view bytes);
  /// Waits for bytes, and returns how many there are, at least one. Error also: the server has closed the connection,
  /// or the budget has no more bytes.
  [[nodiscard]] Result<std::size_t> receive(std::span<char> into);
  /// Says whether there are bytes to receive at this moment.
  [[nodiscard]] bool has_bytes() const;

 private:
  [[nodiscard]] Status wait(short events) const;

  ExchangeBudget& budget_;
  int fd_ = -1;
};

}  // namespace padlock::tuner
