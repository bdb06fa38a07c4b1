// The worker's process: how it is found, started and replaced, and how it ends with its parent.

#include "tuner/worker/worker.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "support/split_mix.h"
#include "tests/tuner/faults/fault.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/wire.h"
#include "tuner/worker/worker_loop.h"

namespace padlock::tuner {
namespace {

TryRequest small_request(const std::string& config = "") {
  return {.program = "program p(x: f32[A]) { z = pad(x, low = [1], high = [2]) return z }",
          .target = {},
          .config = config,
          .symbols = {{"A", 1000}},
          .threads = 1,
          .time_limit_ms = 20'000,
          .policy = {.warm_up_ms = 0.1, .rotation_bytes = 1 << 16, .max_samples = 9, .budget_ms = 5}};
}

TEST_CASE("a worker is found by the option, then by the variable, then beside the library") {
  ::unsetenv(kWorkerVariable);
  CHECK(*find_worker("/bin/true") == "/bin/true");
  CHECK(find_worker("/no/such").error().message == "expected a worker to tune with, found that /no/such cannot be run");
  CHECK(*find_worker("", {"/no/such", "/bin/true"}) == "/bin/true");
  const Error error = find_worker("", {"/no/such", "/none/either"}).error();
  CHECK(error.code == Code::unavailable);
  CHECK(error.message ==
        "tuning needs a worker process: no option names one, PADLOCK_WORKER is not set, and there is none of /no/such, "
        "/none/either");
  ::setenv(kWorkerVariable, "/bin/false", 1);
  CHECK(*find_worker("") == "/bin/false");
  CHECK(*find_worker("/bin/true") == "/bin/true");
  ::setenv(kWorkerVariable, "/no/such", 1);
  CHECK(find_worker("").error().message ==
        "expected a worker to tune with, found that PADLOCK_WORKER=/no/such cannot be run");
  ::unsetenv(kWorkerVariable);
  // The build puts it beside this test.
  CHECK(find_worker("")->ends_with("/padlock-worker"));
}

TEST_CASE("what is no worker is an error that says why") {
  const auto error_of = [](std::vector<std::string> command, int limit_ms = 5000) {
    const auto worker =
        Worker::start({.command = std::move(command), .start_limit = std::chrono::milliseconds(limit_ms)});
    REQUIRE_FALSE(worker);
    CHECK(worker.error().code ==
          (worker.error().message.starts_with("expected") ? Code::invalid_argument : Code::unavailable));
    return worker.error().message;
  };
  CHECK(error_of({}) == "expected a worker's command, found none");
  CHECK(error_of({"/no/such"}) == "cannot start /no/such: No such file or directory");
  CHECK(error_of({"/bin/true"}) == "/bin/true did not start as a worker: it exited with 0");
  CHECK(error_of({"/bin/sh", "-c", "echo why >&2; exit 4"}) ==
        "/bin/sh did not start as a worker: it exited with 4: why");
  CHECK(error_of({"/bin/sh", "-c", "echo a line that is longer than the head of a frame; sleep 100"}) ==
        "/bin/sh did not start as a worker: it wrote what is no frame: a frame begins with 0x696c2061, not 0x4b574c50");
  CHECK(error_of({"/bin/sleep", "100"}, 100) == "/bin/sleep did not start as a worker: it said nothing for 100 ms");
}

TEST_CASE("both workers of the build serve") {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{PADLOCK_WORKER_FILE}, {PADLOCK_COMMAND, "worker"}}) {
    auto worker = Worker::start({.command = command});
    REQUIRE_MESSAGE(worker, (worker ? "" : worker.error().to_string()));
    const auto result = worker->try_config(small_request());
    REQUIRE(result);
    CHECK_MESSAGE(result->verdict == Verdict::ok, result->message);
    CHECK(result->samples_ps.size() >= 3);
    CHECK(result->median_ps > 0);
  }
}

TEST_CASE("a worker that died while nothing was asked is replaced, and no config is to blame") {
  auto worker = Worker::start({.command = {PADLOCK_WORKER_FILE}});
  REQUIRE(worker);
  for (int i = 1; i <= 3; ++i) {
    ::kill(worker->pid(), SIGKILL);
    ::usleep(20'000);
    const auto result = worker->try_config(small_request());
    REQUIRE(result);
    CHECK(result->verdict == Verdict::ok);
    CHECK(worker->starts() == 1 + i);
  }
}

TEST_CASE("one whose starting thread has gone is replaced, too") {
  std::optional<Result<Worker>> worker;
  std::thread([&] { worker = Worker::start({.command = {PADLOCK_WORKER_FILE}}); }).join();
  REQUIRE(*worker);
  ::usleep(20'000);
  const auto result = (*worker)->try_config(small_request());
  REQUIRE(result);
  CHECK(result->verdict == Verdict::ok);
}

TEST_CASE("an interruption kills the worker and is no verdict; the next config is tried") {
  ::setenv(faults::kFaultVariable, "infinite_loop", 1);
  bool cancelled = true;
  auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}, .cancelled = [&] { return cancelled; }});
  ::unsetenv(faults::kFaultVariable);
  REQUIRE(worker);
  const auto looping = worker->try_config(small_request(std::string(faults::kFaultyHost)));
  REQUIRE_FALSE(looping);
  CHECK(looping.error().code == Code::cancelled);
  CHECK(looping.error().message.starts_with("trying a config was interrupted while "));
  cancelled = false;
  const auto result = worker->try_config(small_request());
  REQUIRE(result);
  CHECK(result->verdict == Verdict::ok);
  CHECK(worker->starts() == 2);
}

TEST_CASE("descriptors and processes are given back") {
  const auto descriptors = [] {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  };
  const int before = descriptors();
  {
    auto worker = Worker::start({.command = {PADLOCK_WORKER_FILE}});
    REQUIRE(worker);
    CHECK(descriptors() == before + 2);
    Worker moved = *std::move(worker);
    CHECK(descriptors() == before + 2);
  }
  CHECK(descriptors() == before);
  int status = 0;
  CHECK(::waitpid(-1, &status, WNOHANG) == -1);  // no child is left
}

/// The state letter of /proc/PID/stat; 0 for no such process.
char state_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return 0;
  std::array<char, 512> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  const std::string line(text.data(), size);
  const std::size_t at = line.rfind(')');
  return at == std::string::npos || at + 2 >= line.size() ? '\0' : line[at + 2];
}

TEST_CASE("a worker in an endless loop ends with its parent") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setenv(faults::kFaultVariable, "infinite_loop", 1);
    auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
    const pid_t pid = worker ? worker->pid() : -1;
    if (::write(pipe[1], &pid, sizeof pid) < 0 || !worker) ::_exit(1);
    const auto result = worker->try_config(small_request(std::string(faults::kFaultyHost)));
    ::_exit(result ? 0 : 1);
  }
  pid_t worker = -1;
  REQUIRE(::read(pipe[0], &worker, sizeof worker) == sizeof worker);
  REQUIRE(worker > 0);
  ::usleep(300'000);  // it is at its loop by now; if not, so much the easier
  REQUIRE(state_of(worker) != 0);
  ::kill(parent, SIGKILL);
  int status = 0;
  ::waitpid(parent, &status, 0);
  char state = state_of(worker);
  for (int i = 0; i < 1000 && state != 0 && state != 'Z'; ++i) {
    ::usleep(10'000);
    state = state_of(worker);
  }
  CHECK((state == 0 || state == 'Z'));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

/// Returns a good worker's answers to one request, with damaged bytes.
std::string damaged_conversation(SplitMix& random) {
  std::string bytes = encode_frame(FrameKind::hello, "");
  const std::size_t hello = bytes.size();
  bytes += encode_frame(FrameKind::step, to_bytes(Step::compile));
  bytes += encode_frame(FrameKind::result, to_bytes(TryResult{.message = "fine", .samples_ps = {1, 2, 3}}));
  for (std::uint64_t i = 1 + random.next() % 3; i > 0; --i) {
    const std::size_t at = hello + random.next() % (bytes.size() - hello);
    switch (random.next() % 4) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.next() % 8));
        break;
      case 1:
        bytes.resize(at + 1);
        break;
      case 2:
        bytes.insert(at, bytes.substr(hello, random.next() % 100));
        break;
      default:
        bytes.erase(at, 1 + random.next() % 8);
        bytes += "trailing";
    }
  }
  return bytes;
}

TEST_CASE("whatever a worker writes, there is a verdict, and nothing is left") {
  constexpr std::uint64_t kSeed = 20261120;
  MESSAGE("seed " << kSeed);
  SplitMix random(kSeed);
  const std::string file = (std::filesystem::temp_directory_path() / fmt::format("padlock_{}", ::getpid())).string();
  std::set<Verdict> seen;
  for (int i = 0; i < 60; ++i) {
    const std::string bytes = damaged_conversation(random);
    std::ofstream(file, std::ios::binary) << bytes;
    const std::string then = i % 2 == 0 ? "exit 5" : "exec sleep 60";
    auto worker = Worker::start(
        {.command = {"/bin/sh", "-c", fmt::format("head -c 24 {0}; read line; tail -c +25 {0}; {1}", file, then)}});
    REQUIRE_MESSAGE(worker, (worker ? "" : worker.error().to_string()));
    TryRequest request = small_request();
    request.program += '\n';  // which the shell's read waits for
    request.time_limit_ms = 100;
    const auto result = worker->try_config(request);
    if (result) seen.insert(result->verdict);
    CHECK((result || result.error().code == Code::unavailable));
  }
  std::filesystem::remove(file);
  CHECK(seen.contains(Verdict::protocol));
  CHECK(seen.contains(Verdict::timeout));
  int status = 0;
  CHECK(::waitpid(-1, &status, WNOHANG) == -1);
}

/// What a worker's loop answers to these bytes, and its exit status.
struct Served {
  int status = -1;
  std::string out;
};
Served serve(const std::string& bytes) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  REQUIRE(::pipe(in.data()) == 0);
  REQUIRE(::pipe(out.data()) == 0);
  REQUIRE(::write(in[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(in[1]);
  Served served;
  served.status =
      serve_requests(in[0], out[1], [](const TryRequest& request, const std::function<void(Step)>& on_step) {
        on_step(Step::run);
        return TryResult{.verdict = Verdict::run, .message = "asked for " + request.config};
      });
  ::close(out[1]);
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(out[0], piece.data(), piece.size())) > 0;)
    served.out.append(piece.data(), static_cast<std::size_t>(count));
  ::close(in[0]);
  ::close(out[0]);
  return served;
}

TEST_CASE("the loop answers requests, and ends at what is none") {
  const std::string hello = encode_frame(FrameKind::hello, "");
  CHECK(serve("").status == 0);
  CHECK(serve("").out == hello);
  const Served good = serve(encode_frame(FrameKind::request, to_bytes(small_request("a=b"))));
  CHECK(good.status == 0);
  CHECK(good.out ==
        hello + encode_frame(FrameKind::step, to_bytes(Step::run)) +
            encode_frame(FrameKind::result, to_bytes(TryResult{.verdict = Verdict::run, .message = "asked for a=b"})));
  CHECK(serve("this is no frame, and long enough").status == 1);
  CHECK(serve(encode_frame(FrameKind::request, "x")).status == 1);
  CHECK(serve(encode_frame(FrameKind::hello, "")).status == 1);
  // A parent that died while it wrote.
  CHECK(serve(encode_frame(FrameKind::request, to_bytes(small_request())).substr(0, 40)).status == 0);
}

}  // namespace
}  // namespace padlock::tuner
