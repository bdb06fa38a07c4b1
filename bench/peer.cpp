#include "bench/peer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

namespace padlock::bench {
namespace {

constexpr int kStartSeconds = 120;  // a library that is read from a disk for the first time
constexpr int kReadySeconds = 120;  // compilers among them
constexpr int kTimeSeconds = 60;
constexpr int kMostRevivals = 20;

/// Starts a process whose input and output are `channel`. Its number, or -1 with errno.
pid_t spawn(const std::vector<std::string>& words, int channel) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, channel, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? pid : -1;
}

}  // namespace

Result<Peer> Peer::start(const std::string& python, const std::string& script, const std::string& name, int threads) {
  Peer peer({python, script, "--peer=" + name, fmt::format("--threads={}", threads)}, name, threads);
  PADLOCK_CHECK(peer.open());
  return peer;
}

Status Peer::open() {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0) {
    pid_ = spawn(command_, ends[1]);
    ::close(ends[1]);
    channel_ = ends[0];
  }
  if (pid_ >= 0) return {};
  const std::string reason = std::strerror(errno);
  if (ends[0] >= 0) ::close(ends[0]);
  return unavailable(fmt::format("{} cannot be started: {}", command_.front(), reason));
}

void Peer::revive() {
  if (pid_ >= 0 || revivals_ == kMostRevivals) return;
  ++revivals_;
  heard_.clear();
  if (open()) (void)version();
}

Peer::Peer(Peer&& other) noexcept
    : command_(std::move(other.command_)),
      name_(std::move(other.name_)),
      threads_(other.threads_),
      revivals_(other.revivals_),
      pid_(std::exchange(other.pid_, -1)),
      channel_(std::exchange(other.channel_, -1)),
      heard_(std::move(other.heard_)) {}

Peer::~Peer() { end(); }

void Peer::end() {
  if (pid_ < 0) return;
  ::close(channel_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Peer::tell(std::string_view line) {
  if (pid_ < 0) return;
  // A line is far shorter than what fits in between, and is read before the next one is sent.
  const std::string text = std::string(line) + "\n";
  ::kill(pid_, SIGCONT);
  if (::send(channel_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) end();
}

std::optional<std::string> Peer::hear(int seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (pid_ >= 0) {
    if (const std::size_t end_of_line = heard_.find('\n'); end_of_line != std::string::npos) {
      std::string line = heard_.substr(0, end_of_line);
      heard_.erase(0, end_of_line + 1);
      // Threads of its own pool that look for more work would slow down who comes next.
      ::kill(pid_, SIGSTOP);
      return line;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = channel_, .events = POLLIN, .revents = 0};
    std::array<char, 4096> buffer{};
    const bool came = left.count() > 0 && ::poll(&wait, 1, static_cast<int>(left.count())) > 0;
    const ssize_t size = came ? ::read(channel_, buffer.data(), buffer.size()) : 0;
    if (size <= 0) {
      end();
      break;
    }
    heard_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

Result<std::string> Peer::version() {
  const auto line = hear(kStartSeconds);
  if (!line) return unavailable(fmt::format("{} ended, or did not answer for {} s", name_, kStartSeconds));
  if (line->starts_with("here ")) return line->substr(5);
  end();
  return unavailable(*line);
}

void Peer::prepare(int id, const PadSpec& spec, const std::string& input, const std::string& output) {
  const PadCase& pad = spec.pad;
  tell(fmt::format("prepare id={} dtype={} extents={} low={} high={} mode={} value={} relu={} input={} output={}", id,
                   ir::name_of(spec.dtype), fmt::join(pad.extents, ","), fmt::join(pad.low, ","),
                   fmt::join(pad.high, ","), pad.mode, fill_literal(pad, spec.dtype), spec.relu ? 1 : 0, input,
                   output));
}

Status Peer::ready() {
  const auto line = hear(kReadySeconds);
  if (!line) return unavailable(fmt::format("{} ended, or did not answer for {} s", name_, kReadySeconds));
  return *line == "ready" ? Status() : unavailable(*line);
}

std::optional<double> Peer::time_ms(int id, int calls) {
  tell(fmt::format("time id={} calls={}", id, calls));
  const auto line = hear(kTimeSeconds);
  double ms = 0;
  if (!line || !line->starts_with("ms ")) return std::nullopt;
  const auto [stop, error] = std::from_chars(line->data() + 3, line->data() + line->size(), ms);
  return error == std::errc() ? std::optional(ms) : std::nullopt;
}

void Peer::forget_all() {
  tell("forget");
  (void)hear(kTimeSeconds);
}

}  // namespace padlock::bench
