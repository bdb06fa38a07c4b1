#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/exchange/budget.h"
#include "tuner/exchange/socket.h"

// The protocol of Redis, version 2 (https://redis.io/docs/latest/develop/reference/protocol-spec), as far as an
// exchange needs it.
namespace padlock::tuner {

/// Returns the bytes of a command.
[[nodiscard]] std::string command_text(std::initializer_list<std::string_view> words);

/// An answer to one command.
struct Answer {
  enum class Kind : std::uint8_t { status, error, integer, text, none, list };
  Kind kind = Kind::none;
  std::string text;               ///< of a status, an error or a text; an integer in decimal
  std::vector<std::string> list;  ///< texts
};

/// Reads answers. Holds at most one answer at a time, never more bytes than were received.
class AnswerReader {
 public:
  /// Both are borrowed.
  AnswerReader(Socket& socket, ExchangeBudget& budget) : socket_(socket), budget_(budget) {}

  /// Reads one answer, and no byte behind it. Errors (unavailable): as of the socket; not an answer; an answer beyond
  /// the budget, which is refused before it is read.
  [[nodiscard]] Result<Answer> read();
  /// Returns whether unread bytes are there, even if no command was sent.
  [[nodiscard]] bool has_bytes() const { return at_ < end_ || socket_.has_bytes(); }

 private:
  [[nodiscard]] Status fill();
  [[nodiscard]] Result<std::string> line();
  /// Reads a text after its length. `length`: as it is written.
  [[nodiscard]] Result<Answer> text(std::string_view length);
  [[nodiscard]] Result<Answer> list(std::string_view length);

  Socket& socket_;
  ExchangeBudget& budget_;
  std::array<char, 65536> bytes_;
  std::size_t at_ = 0, end_ = 0;  // range of the unread bytes
};

}  // namespace padlock::tuner
