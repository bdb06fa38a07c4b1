#include "tuner/worker/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "trace/observer.h"

namespace padlock::tuner {
namespace {

constexpr std::chrono::milliseconds kReluctance{10'000};
constexpr std::size_t kTail = 400;  // characters of stderr quoted in a message

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Owns the two objects of posix_spawn.
class SpawnPlan {
 public:
  SpawnPlan(int socket, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    // The child must not get the caller's files, even those without close-on-exec.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes_);
    // The child starts with default signals, whatever the caller's thread blocks or ignores.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  /// Returns 0 or errno.
  int spawn(pid_t& pid, const std::vector<std::string>& command) const {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawn(&pid, command.front().c_str(), &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::unexpected<Error> not_started(const std::string& file, int number) {
  return unavailable(fmt::format("cannot start {}: {}", file, std::strerror(number)));
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

std::string describe(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const char* const name = ::sigabbrev_np(number);
  if (name == nullptr) return fmt::format("died of signal {}", number);
  return fmt::format("died of SIG{} ({})", name, ::sigdescr_np(number));
}

}  // namespace

Result<WorkerProcess> WorkerProcess::spawn(const std::vector<std::string>& command) {
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return not_started(command.front(), errno);
  FileDescriptor ours(sockets[0]);
  const FileDescriptor theirs(sockets[1]);
  if (::pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) != 0) return not_started(command.front(), errno);
  FileDescriptor our_errors(errors[0]);
  const FileDescriptor their_errors(errors[1]);
  pid_t pid = -1;
  if (const int number = SpawnPlan(theirs.get(), their_errors.get()).spawn(pid, command); number != 0)
    return not_started(command.front(), number);
  return WorkerProcess(pid, ours.release(), our_errors.release());
}

WorkerProcess::WorkerProcess(pid_t pid, int socket, int errors)
    : pid_(pid), socket_(socket), errors_(errors), echoes_(trace::is_asked_for()) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      tail_(std::move(other.tail_)),
      echoes_(other.echoes_) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  std::swap(errors_, other.errors_);
  std::swap(tail_, other.tail_);
  std::swap(echoes_, other.echoes_);
  return *this;
}

WorkerProcess::~WorkerProcess() { reset(); }

void WorkerProcess::reset() {
  static_cast<void>(end(std::chrono::milliseconds(0)));
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (errors_ >= 0) ::close(std::exchange(errors_, -1));
}

void WorkerProcess::drain_errors() {
  std::array<char, 4096> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read before it is used
  // Bounded, so that a child that never stops writing cannot hold up this process.
  for (int i = 0; i < 64; ++i) {
    const ssize_t count = ::read(errors_, piece.data(), piece.size());
    if (count <= 0) return;
    if (echoes_) std::fwrite(piece.data(), 1, static_cast<std::size_t>(count), stderr);
    tail_.append(piece.data(), static_cast<std::size_t>(count));
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
}

WorkerProcess::Event WorkerProcess::exchange(std::string_view& outgoing, std::string& incoming,
                                             Clock::time_point deadline) {
  const auto can_send = static_cast<short>(outgoing.empty() ? 0 : POLLOUT);
  std::array<pollfd, 2> polled{pollfd{.fd = socket_, .events = static_cast<short>(POLLIN | can_send), .revents = 0},
                               pollfd{.fd = errors_, .events = POLLIN, .revents = 0}};
  const int ready = ::poll(polled.data(), polled.size(), milliseconds_until(deadline));
  if (ready == 0 || Clock::now() >= deadline) return Event::timeout;
  if (ready < 0) return Event::progress;  // interrupted
  if (polled[1].revents != 0) drain_errors();
  if ((polled[0].revents & POLLOUT) != 0) {
    // A dead worker is noticed below; it must not raise SIGPIPE here.
    const ssize_t sent = ::send(socket_, outgoing.data(), outgoing.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) outgoing.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) outgoing = {};
  }
  if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
    // A closed stderr is always ready: wait only for the socket then, with a pause.
    if ((polled[1].revents & POLLIN) == 0 && polled[1].revents != 0) ::poll(polled.data(), 1, 10);
    return Event::progress;
  }
  std::array<char, 1 << 16> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read before it is used
  const ssize_t count = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count > 0) incoming.append(piece.data(), static_cast<std::size_t>(count));
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return Event::progress;
  return Event::ended;
}

bool WorkerProcess::is_idle() const {
  pollfd polled{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) == 0;
}

pid_t WorkerProcess::wait(int& status, std::chrono::milliseconds patience) const {
  const auto deadline = Clock::now() + patience;
  pid_t waited = ::waitpid(pid_, &status, WNOHANG);
  while (waited == 0 && Clock::now() < deadline) {
    ::poll(nullptr, 0, 1);
    waited = ::waitpid(pid_, &status, WNOHANG);
  }
  return waited;
}

WorkerProcess::End WorkerProcess::end(std::chrono::milliseconds patience) {
  if (pid_ <= 0) return {};
  int status = 0;
  pid_t waited = wait(status, patience);
  const bool killed = waited == 0;
  if (killed) {
    ::kill(pid_, SIGKILL);
    // A driver may keep a process whose device hangs: then stop waiting for it.
    waited = wait(status, kReluctance);
  }
  pid_ = -1;
  drain_errors();
  // Other code in this process may have waited for all children.
  End end{.signal = 0, .text = waited < 0 ? "ended" : describe(status)};
  if (killed) end.text = "was killed";
  if (waited > 0 && !killed && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  while (!tail_.empty() && (tail_.back() == '\n' || tail_.back() == '\r')) tail_.pop_back();
  if (!tail_.empty()) end.text += ": " + tail_;
  return end;
}

}  // namespace padlock::tuner
