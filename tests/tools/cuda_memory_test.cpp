// A GPU whose memory runs out while a program is loaded or run: the exit status, whichever call fails.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/cuda/fake_fixture.h"
#include "tools/commands/command_line.h"
#include "tools/failure.h"

namespace padlock::tools {
namespace {

using runtime::cuda::contains;
using runtime::cuda::CUresult;

/// Runs the command in this process, so that the fake driver can be controlled.
struct Command {
  Command() {
    char name[] = "/tmp/padlock_cuda_memory_XXXXXX";
    folder = ::mkdtemp(name);
    std::ofstream(folder + "/p.pad") << "program p(x: i32[n]) { y = add(x, x) return y }";
    setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
    fake->register_twin("p_0_one_vector", [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() { std::filesystem::remove_all(folder); }

  int run() {
    return run(
        {"run", folder + "/p.pad", "--device=cuda:0", "--input=x=random", "--bind=n=100", "--seed=1", "--quiet"});
  }
  /// Returns the exit status; `text` is the output on stderr.
  int run(const std::vector<std::string>& words) {
    std::fflush(stderr);
    const int terminal = ::dup(STDERR_FILENO);
    std::FILE* const file = std::fopen((folder + "/stderr").c_str(), "w");
    REQUIRE(file != nullptr);
    ::dup2(::fileno(file), STDERR_FILENO);
    const int status = run_command_line(words);
    std::fflush(stderr);
    ::dup2(terminal, STDERR_FILENO);
    ::close(terminal);
    std::fclose(file);
    std::ostringstream read;
    read << std::ifstream(folder + "/stderr").rdbuf();
    text = read.str();
    return status;
  }

  runtime::cuda::Fake fake;
  std::string folder, text;
};

TEST_CASE("memory that does not suffice exits with 4, whichever step lacks it") {
  Command command;
  CHECK_MESSAGE(command.run() == static_cast<int>(ExitCode::ok), command.text);
  constexpr int kAllocations = 3;  // the error words, x and y
  for (const auto& [function, calls] : {std::pair<std::string, int>{"cuDevicePrimaryCtxRetain", 1},
                                        {"cuModuleLoadDataEx", 1},
                                        {"cuModuleGetFunction", 1},
                                        {"cuFuncLoad", 1},
                                        {"cuStreamCreate", 1},
                                        {"cuMemAlloc_v2", kAllocations},
                                        {"cuLaunchKernelEx", 1}})
    for (int nth = 1; nth <= calls; ++nth) {
      CAPTURE(function);
      CAPTURE(nth);
      command.fake->fail({.function = function, .nth = nth, .status = CUresult::out_of_memory});
      CHECK(command.run() == static_cast<int>(ExitCode::mismatch));
      CHECK_MESSAGE(contains(command.text, "padlock: error: "), command.text);
      CHECK_MESSAGE(contains(command.text, "CUDA_ERROR_OUT_OF_MEMORY"), command.text);
      command.fake.check_clean();
    }
}

TEST_CASE("a program beyond the limits exits with 3: more memory is of no use") {
  Command command;
  std::string parameters = "x: i32[n]", sum = "  s0 = relu(x)\n";
  for (int i = 1; i <= 600; ++i) {  // a launch takes 512 words
    parameters += fmt::format(", x{}: i32[n]", i);
    sum += fmt::format("  s{} = add(s{}, x{})\n", i, i - 1, i);
  }
  const std::string file = command.folder + "/wide.pad";
  std::ofstream(file) << fmt::format("program p({}) {{\n{}  return s600 }}", parameters, sum);
  CHECK(command.run({"emit", file, "--stage=ptx", "--target=sm_90"}) == static_cast<int>(ExitCode::file));
  CHECK_MESSAGE(contains(command.text, "bytes of parameters, a launch takes 4096"), command.text);
}

}  // namespace
}  // namespace padlock::tools
