#include "bench/times/compile_times.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace padlock::bench {
namespace {

constexpr std::string_view kRank1 = R"(program pad1(x: f32[N])
{
  y = pad(x, low = [1], high = [1])
  return y
})";

constexpr std::string_view kRank4 = R"(program pad4(x: f32[N, C, H, W], p: dim)
where 0 <= p <= 64
{
  y = pad(x, low = [0, 0, p, p], high = [0, 0, p, p], value = -1.5)
  z = relu(y)
  return z
})";

Status compile_text(session::Context& context, std::string_view text) {
  PADLOCK_TRY(const session::Program program, session::Program::from_text(text));
  PADLOCK_TRY([[maybe_unused]] const session::CompiledProgram compiled, context.compile(program));
  return {};
}

std::string rank1(int number) {
  return fmt::format("program p{}(x: f32[N]) {{ y = pad(x, low = [1], high = [1]) return y }}", number);
}
std::string rank4(int number) {
  return fmt::format(
      "program p{}(x: f32[N, C, H, W], p: dim) where 0 <= p <= 64"
      " {{ y = pad(x, low = [0, 0, p, p], high = [0, 0, p, p], value = -1.5) z = relu(y) return z }}",
      number);
}
std::string rank4_reflect(int number) {
  return fmt::format(
      "program p{}(x: f32[N, C, H, W], p: dim) where H >= 2, W >= 2, 0 <= p <= 64"
      " {{ y = pad(x, low = [0, 0, p, p], high = [0, 0, p, p], mode = reflect) return y }}",
      number);
}
std::string twelve_axes(int number) {
  std::string extents, dims, low, high, where;
  for (int i = 0; i < 12; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    extents += fmt::format("{}S{}", comma, i);
    dims += fmt::format(", l{}: dim, h{}: dim", i, i);
    low += fmt::format("{}l{}", comma, i);
    high += fmt::format("{}h{}", comma, i);
    where += fmt::format("{}S{} >= 1, l{} >= 0, h{} >= 0", comma, i, i, i);
  }
  return fmt::format("program p{}(x: f32[{}]{}) where {} {{ y = pad(x, low = [{}], high = [{}]) return y }}", number,
                     extents, dims, where, low, high);
}

Status prove_text(session::Context& context, const std::string& text) {
  PADLOCK_TRY(const session::Program program, session::Program::from_text(text));
  PADLOCK_TRY([[maybe_unused]] const auto proofs, context.prove(program));
  return {};
}

/// A file that holds `text` and goes when this goes.
class TemporaryProgram {
 public:
  [[nodiscard]] static Result<TemporaryProgram> create(std::string_view text) {
    std::string path = "/tmp/padlock_bench_XXXXXX.pad";
    const int fd = mkstemps(path.data(), 4);
    if (fd < 0) return unavailable("no file can be made in /tmp");
    const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(fd);
    TemporaryProgram program(std::move(path));
    if (!written) return unavailable("/tmp is full");
    return program;
  }
  TemporaryProgram(TemporaryProgram&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryProgram& operator=(TemporaryProgram&&) = delete;
  ~TemporaryProgram() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryProgram(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Runs a process with its output thrown away. Whether it started and exited with 0.
bool run_process(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const bool started = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return started && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Result<Comparison> warm_compile(session::Context& context, const TimingOptions& options) {
  PADLOCK_CHECK(compile_text(context, kRank1));
  PADLOCK_CHECK(compile_text(context, kRank4));
  const auto compiling = [&context](std::string_view text) {
    return [&context, text] {
      if (!compile_text(context, text)) std::abort();
    };
  };
  return compare("compile, warm, in one process", 0,
                 {{"rank 1 pad", compiling(kRank1)}, {"rank 4 pad and relu", compiling(kRank4)}}, options);
}

Result<double> first_compile_ms() {
  const auto start = std::chrono::steady_clock::now();
  session::Context context({.threads = 1, .parallel_for = {}});
  PADLOCK_TRY(const session::Program program, session::Program::from_text(kRank4));
  PADLOCK_TRY(const session::CompiledProgram compiled, context.compile(program));
  PADLOCK_TRY(
      [[maybe_unused]] const session::BoundProgram bound,
      compiled.bind({.tensors = {std::nullopt}, .symbols = {{"N", 1}, {"C", 3}, {"H", 8}, {"W", 8}, {"p", 1}}}));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Result<std::vector<double>> first_compiles_ms(const std::string& self, int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
        // NOLINTNEXTLINE(bugprone-command-processor): of this program's own path
        ::popen(fmt::format("'{}' --first-compile", self).c_str(), "r"), ::pclose);
    std::array<char, 64> text{};
    double ms = 0;
    const std::size_t size = output ? std::fread(text.data(), 1, text.size(), output.get()) : 0;
    if (std::from_chars(text.data(), text.data() + size, ms).ec != std::errc())
      return unavailable(fmt::format("{} cannot be run", self));
    all.push_back(ms);
  }
  return all;
}

Result<Comparison> proof_times(session::Context& context, const TimingOptions& options) {
  int number = 0;
  for (const auto make : {rank1, rank4, rank4_reflect, twelve_axes}) PADLOCK_CHECK(prove_text(context, make(number++)));
  const auto proving = [&](std::string (*make)(int)) {
    return [&context, &number, make] {
      if (!prove_text(context, make(number++))) std::abort();
    };
  };
  return compare("text to proofs, warm, in one process", 0,
                 {{"rank 1 pad", proving(rank1)},
                  {"rank 4 pad and relu", proving(rank4)},
                  {"rank 4 reflection", proving(rank4_reflect)},
                  {"12 axes, 36 symbols", proving(twelve_axes)}},
                 options);
}

Result<Comparison> cold_process(const std::string& command, const TimingOptions& options) {
  PADLOCK_TRY(const TemporaryProgram program, TemporaryProgram::create(kRank4));
  const std::vector<std::string> version{command, "version"};
  const std::vector<std::string> run{command,   "run", program.path(), "--input=x=random", "--bind=N=2,C=3,H=8,W=8,p=1",
                                     "--seed=1"};
  for (const auto& words : {version, run})
    if (!run_process(words)) return unavailable(fmt::format("`{} {}` fails", command, words[1]));
  return compare(
      "whole process, cold", 0,
      {{"padlock version", [&] { run_process(version); }}, {"padlock run, rank 4", [&] { run_process(run); }}},
      options);
}

}  // namespace padlock::bench
