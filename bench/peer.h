#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/pad_case.h"
#include "support/error.h"

namespace padlock::bench {

/// Peer is what one would use instead of Padlock, in a process of its own that host_peers.py runs: it waits until it is
/// asked, times its calls itself and says how long they took. From its answer to the next question it is stopped:
/// nothing of it runs while others are timed. Not thread-safe. A process that ends, as where the system has no more
/// memory for it, or does not answer in time, is ended and can do nothing more until it is started again.
class Peer {
 public:
  /// `name` as host_peers.py lists them; `threads` that it may use. Waits for nothing. Error: unavailable where the
  /// process cannot be started.
  [[nodiscard]] static Result<Peer> start(const std::string& python, const std::string& script, const std::string& name,
                                          int threads);
  Peer(Peer&& other) noexcept;
  Peer& operator=(Peer&&) = delete;
  ~Peer();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int threads() const { return threads_; }
  /// Once it is there: its version. Error: unavailable, with why it is not. To be called once, first.
  [[nodiscard]] Result<std::string> version();
  /// Starts it again where it is gone, some times at most, and waits until it is there.
  void revive();

  /// Asks it to get ready for a program whose pads are numbers: to read `input`, to run once and to write the result
  /// to `output`. `ready` waits for that. Error of `ready`: unavailable, with what it cannot do.
  void prepare(int id, const PadSpec& spec, const std::string& input, const std::string& output);
  [[nodiscard]] Status ready();
  /// Milliseconds that so many calls took; nothing from a process that is gone.
  [[nodiscard]] std::optional<double> time_ms(int id, int calls);
  /// Forgets what it was made ready for.
  void forget_all();

 private:
  Peer(std::vector<std::string> command, std::string name, int threads)
      : command_(std::move(command)), name_(std::move(name)), threads_(threads) {}
  [[nodiscard]] Status open();
  void tell(std::string_view line);
  /// The next line that it says, after which it is stopped; nothing where it is gone.
  [[nodiscard]] std::optional<std::string> hear(int seconds);
  void end();

  std::vector<std::string> command_;
  std::string name_;
  int threads_;
  int revivals_ = 0;
  int pid_ = -1;      // owned; -1: gone
  int channel_ = -1;  // owned; a socket
  std::string heard_;
};

}  // namespace padlock::bench
