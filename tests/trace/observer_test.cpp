#include "trace/observer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "abi/gpu_targets.h"
#include "ir/program.h"
#include "support/file.h"
#include "tests/common/expect.h"
#include "tests/compiler/seeded/seeded_bugs.h"

namespace padlock::trace {
namespace {

namespace fs = std::filesystem;
using compiler::Stage;
using compiler::TargetCompiler;
using testing::value_of;

constexpr const char* kText =
    "program pads(x: f32[B, S], lo: dim) where B >= 1, S >= 0, 0 <= lo, lo <= 8 "
    "{ y = pad(x, low = [0, lo], high = [0, 3]) z = relu(y) return z }";

/// A folder that PADLOCK_DUMP names, as long as it lives.
class Dumps {
 public:
  Dumps() : path_((fs::temp_directory_path() / "padlock_dumps_XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
    ::setenv(kDumpVariable, path_.c_str(), 1);
  }
  Dumps(const Dumps&) = delete;
  Dumps& operator=(const Dumps&) = delete;
  ~Dumps() {
    ::unsetenv(kDumpVariable);
    fs::remove_all(path_);
  }

  [[nodiscard]] std::vector<fs::path> folders() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path_)) found.push_back(entry.path());
    return found;
  }
  [[nodiscard]] fs::path only() const {
    REQUIRE(folders().size() == 1);
    return folders().front();
  }

 private:
  std::string path_;
};

std::set<std::string> files_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::string text_of(const fs::path& file) { return value_of(read_text_file(file.string(), 1 << 24)); }

std::unique_ptr<TargetCompiler> observed(const std::string& target) {
  return value_of(Observer::from_environment().create(target));
}

TEST_CASE("a dump holds every stage of a compile, and changes nothing of it") {
  for (const std::string target : {"host:x86-64-v3", "sm_90"}) {
    CAPTURE(target);
    const Dumps dumps;
    const ir::Program program = value_of(ir::parse_program(kText));
    const auto plain = value_of(TargetCompiler::create(target));
    const auto code = value_of(observed(target)->compile(program, {}));
    CHECK(code.bytes == value_of(plain->compile(program, {})).bytes);
    const fs::path folder = dumps.only();
    const bool gpu = abi::is_gpu(target);
    const std::string assembly = gpu ? "code.ptx" : "code.s";
    for (const std::string& name : {std::string("program.pad"), std::string("compile.txt"), std::string("repro.sh"),
                                    std::string("kernel.txt"), std::string("schedule.txt"), std::string("proof.txt"),
                                    std::string("emitted.ll"), std::string("simplified.ll"), assembly})
      CHECK_MESSAGE(files_of(folder).contains(name), name);
    CHECK_FALSE(files_of(folder).contains("error.txt"));
    CHECK(text_of(folder / "program.pad") == ir::to_string(program));
    CHECK(text_of(folder / "kernel.txt") == value_of(plain->emit(program, Stage::kernel, {})));
    CHECK(text_of(folder / "schedule.txt") == value_of(plain->emit(program, Stage::schedule, {})));
    CHECK(text_of(folder / assembly) == value_of(plain->emit(program, Stage::assembly, {})));
    if (!gpu) CHECK(text_of(folder / "simplified.ll") == value_of(plain->emit(program, Stage::llvm, {})));
    CHECK(text_of(folder / "emitted.ll") != text_of(folder / "simplified.ll"));
    const std::string proof = text_of(folder / "proof.txt");
    CHECK(proof.find("\n  proved ") != std::string::npos);
    const std::string facts = text_of(folder / "compile.txt");
    CHECK(facts.find("target " + target + "\n") == 0);
    CHECK(facts.find("config " + to_string(plain->default_config()) + "\n") != std::string::npos);
    CHECK(facts.find(", LLVM 22.") != std::string::npos);
    CHECK((fs::status(folder / "repro.sh").permissions() & fs::perms::owner_exec) != fs::perms::none);
  }
}

TEST_CASE("a dump of a refuted program has what there was, and the error") {
  const Dumps dumps;
  const ir::Program program = value_of(ir::parse_program(kText));
  const auto refused =
      observed("host:x86-64-v3")->compile(program, {.edits = compiler::edits_of(compiler::Mutation::pad_load_added)});
  REQUIRE_FALSE(refused);
  const fs::path folder = dumps.only();
  CHECK(text_of(folder / "error.txt").find(refused.error().message) != std::string::npos);
  CHECK(text_of(folder / "proof.txt").find("\n  refuted ") != std::string::npos);
  CHECK(files_of(folder) == std::set<std::string>{"program.pad", "compile.txt", "repro.sh", "kernel.txt",
                                                  "schedule.txt", "proof.txt", "error.txt"});
}

TEST_CASE("threads dump into folders of their own") {
  constexpr std::size_t kThreads = 4, kCompiles = 3;
  const Dumps dumps;
  const auto compiler = observed("host:x86-64-v3");
  std::atomic<std::size_t> compiled = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&compiler, &compiled] {
        const auto program = ir::parse_program(kText);
        for (std::size_t k = 0; k < kCompiles; ++k) compiled += compiler->compile(*program, {}).has_value() ? 1 : 0;
      });
  }
  CHECK(compiled == kThreads * kCompiles);
  const std::vector<fs::path> folders = dumps.folders();
  CHECK(folders.size() == kThreads * kCompiles);
  const std::string code = text_of(folders.front() / "code.s");
  for (const fs::path& folder : folders) {
    CHECK(files_of(folder).size() == 9);
    CHECK(text_of(folder / "code.s") == code);
  }
}

TEST_CASE("a folder's name is bounded") {
  const Dumps dumps;
  const ir::Program program =
      value_of(ir::parse_program("program " + std::string(200, 'p') + "(x: f32[S]) { y = relu(x) return y }"));
  static_cast<void>(value_of(observed("host:x86-64-v3")->compile(program, {})));
  const std::string name = dumps.only().filename().string();
  CHECK(name.size() < 100);
  CHECK(name.find(std::string(48, 'p') + "-host_x86_64_v3-") == 0);
}

TEST_CASE("for simt the script compiles for it") {
  const Dumps dumps;
  const ir::Program program = value_of(ir::parse_program(kText));
  static_cast<void>(value_of(observed("sm_90")->compile(program, {.for_simt = true})));
  const fs::path folder = dumps.only();
  CHECK(text_of(folder / "repro.sh").find(" explain program.pad --device=simt --target='sm_90'") != std::string::npos);
  CHECK(text_of(folder / "compile.txt").find("target sm_90 on simt\n") == 0);
}

TEST_CASE("where no variable asks, the compiler is the target's own") {
  const auto plain = value_of(TargetCompiler::create("host"));
  const auto made = observed("host");
  const TargetCompiler& expected = *plain;
  const TargetCompiler& found = *made;
  CHECK(typeid(found) == typeid(expected));
  CHECK_FALSE(is_asked_for());
}

}  // namespace
}  // namespace padlock::trace
