#include "tuner/worker/worker_loop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include "trace/observer.h"
#include "tuner/trial/try_config.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/wire.h"

namespace padlock::tuner {
namespace {

int complain(const Error& error) {
  static_cast<void>(std::fputs(fmt::format("padlock-worker: error: {}\n", error.message).c_str(), stderr));
  return 1;
}

/// Writes a frame; returns whether all of it was written.
bool write_frame(int out, FrameKind kind, const std::string& payload) {
  const std::string bytes = encode_frame(kind, payload);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(out, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return true;
}

/// Reads the next frame; nullopt at the end of the pipe.
Result<std::optional<Frame>> read_frame(int in, FrameReader& reader) {
  std::array<char, 1 << 16> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read before it is used
  while (true) {
    PADLOCK_TRY(std::optional<Frame> frame, reader.next());
    if (frame) return frame;
    const ssize_t count = ::read(in, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    reader.append({piece.data(), static_cast<std::size_t>(count)});
  }
}

/// No exception may cross LLVM's frames, so the process ends when memory does.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kWords = "padlock-worker: error: the process's memory ended\n";
  static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()));
  std::abort();
}

/// Ends the process when `in` is hung up, even if the main thread is in an endless loop.
void end_with(int in) {
  std::thread([in] {
    pollfd polled{.fd = in, .events = POLLRDHUP, .revents = 0};
    while (::poll(&polled, 1, -1) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }).detach();
}

}  // namespace

int serve_requests(int in, int out, const TryHandler& handler) {
  FrameReader reader;
  if (!write_frame(out, FrameKind::hello, "")) return 0;
  while (true) {
    const auto frame = read_frame(in, reader);
    if (!frame) return complain(frame.error());
    if (!*frame) return 0;
    if ((*frame)->kind != FrameKind::request)
      return complain(Error{.message = "expected a request, found another kind of frame"});
    const auto request = request_from_bytes((*frame)->payload);
    if (!request) return complain(request.error());
    const TryResult result = handler(*request, [out](Step step) { write_frame(out, FrameKind::step, to_bytes(step)); });
    if (!write_frame(out, FrameKind::result, to_bytes(result))) return 0;
  }
}

int run_worker(const TryHandler& handler) {
  // Crashes are expected here, and nobody reads the core.
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::set_new_handler(end_without_memory);
  // Redirect stdout, so that a library's output does not mix with frames.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0) return complain(Error{.message = "expected an open stdout"});
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  end_with(STDIN_FILENO);
  const int status = serve_requests(STDIN_FILENO, out, handler);
  std::fflush(stderr);
  // Skip destructors: the other thread waits, and drivers may be in any state.
  ::_exit(status);
}

int run_worker() {
  std::function<void(Step)> current;
  const auto on_step = [&current](Step step) {
    if (current) current(step);
  };
  Trials trials(on_step, [observer = trace::Observer::from_environment()](const std::string& target) {
    return observer.create(target);
  });
  return run_worker([&](const TryRequest& request, const std::function<void(Step)>& entered) {
    current = entered;
    return trials.try_config(request);
  });
}

}  // namespace padlock::tuner
