#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include "abi/gpu_targets.h"
#include "compiler/targets/target_compiler.h"
#include "tests/common/environment.h"
#include "tests/common/expect.h"

// LLVM ends the process if it is asked for a target or CPU that it does not have. Each name that may reach it is tried
// here, so a wrong one would end this test.
namespace padlock::compiler {
namespace {

using testing::program_of;
using testing::value_of;

struct Cpu {
  std::string name;
  bool runs_64_bits;
};

/// LLVM's own tables, CPUs of 32 bits too.
std::vector<Cpu> cpus_of_llvm() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  std::vector<Cpu> cpus;
  for (const char* const architecture : {"x86_64", "aarch64"}) {
    std::string problem;
    const llvm::Triple triple(fmt::format("{}-unknown-linux-gnu", architecture));
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
    REQUIRE_MESSAGE(target != nullptr, problem);
    const auto made = [&](llvm::StringRef name) {
      return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, name, ""));
    };
    for (const llvm::SubtargetSubTypeKV& cpu : made("generic")->getAllProcessorDescriptions())
      if (std::ranges::find(cpus, cpu.Key, &Cpu::name) == cpus.end())  // both have a "generic"
        cpus.push_back({cpu.Key, triple.isAArch64() || made(cpu.Key)->checkFeatures("+64bit")});
  }
  return cpus;
}

/// Of each kind of code: vectors of words and of halves, masks, permutes, integers, activations, short rows.
constexpr std::array kPrograms = {
    "program p(x: f32[S, T], lo: dim) where lo >= 0 { y = pad(x, low = [0, lo], high = [1, 1], value = 1) z = gelu(y) "
    "return z }",
    "program p(x: f16[S, 3]) { y = pad(x, low = [0, 1], high = [0, 1], mode = wrap) z = cast(y, bf16) return z }",
    "program p(x: u8[S, T]) where T >= 4 { y = pad(x, low = [0, 3], high = [0, 3], mode = reflect) z = cast(y, f32) "
    "return z, y }"};

Code code_of(const std::string& target) {
  const auto made = TargetCompiler::create(target);
  return made ? Code::unknown : made.error().code;
}

std::string refusal_of(const std::string& target) {
  const auto made = TargetCompiler::create(target);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Code::invalid_argument);
  CHECK(made.error().blame == Blame::user);
  return made.error().message;
}

void check_makes_code(const std::string& target) {
  INFO(target);
  const auto compiler = TargetCompiler::create(target);
  REQUIRE(compiler);
  for (const char* text : kPrograms) CHECK((*compiler)->compile(program_of(text), {}));
}

TEST_CASE("each of LLVM's CPUs makes code if it has 64 bits, and else is refused by name") {
  int taken = 0, refused = 0;
  for (const Cpu& cpu : cpus_of_llvm()) {
    const std::string target = "host:" + cpu.name;
    INFO(target);
    if (cpu.runs_64_bits) {
      check_makes_code(target);
      ++taken;
    } else {
      CHECK(refusal_of(target).starts_with(
          fmt::format("target '{}': {} is a 32-bit CPU: expected host, a level (host:x86-64, ", target, cpu.name)));
      ++refused;
    }
  }
  MESSAGE(taken, " CPUs are taken, ", refused, " are refused");
  CHECK(taken >= 170);
  CHECK(refused >= 30);
  for (const char* name : {"i686", "pentium4", "yonah", "lakemont"})
    CHECK(code_of(fmt::format("host:{}", name)) == Code::invalid_argument);
}

TEST_CASE("each architecture of GPUs makes code") {
  for (const std::string& target : abi::gpu_targets()) check_makes_code(target);
}

TEST_CASE("a name that is near to a target's is answered with that") {
  const auto asks = [](const std::string& typed, const std::string& meant) {
    INFO(typed);
    const std::string said = refusal_of(typed);
    CHECK(said.starts_with(fmt::format("unknown target '{}': expected host, a level (host:x86-64, ", typed)));
    CHECK(
        said.ends_with(fmt::format("or one of sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_120; did you "
                                   "mean '{}'?",
                                   meant)));
  };
  asks("host:haswel", "host:haswell");
  asks("haswell", "host:haswell");
  asks("x86-64-v3", "host:x86-64-v3");
  asks("host:x86_64-v3", "host:x86-64-v3");
  asks("host:native", "host");
  asks("native", "host");
  asks("hots", "host");
  asks("sm_90a", "sm_90");
  asks("sm90", "sm_90");
  asks("SM_80", "sm_80");
  asks("host:sm_90", "sm_90");
  asks("host:armv8a", "host:armv8-a");
  asks("armv8-a", "host:armv8-a");
  asks("neoverse-n1", "host:neoverse-n1");
  asks("host:neoverse-v", "host:neoverse-v1");
  for (const char* far : {"wasm", "", "host:", "host:-", "cuda:0", "aarch64"})
    CHECK(refusal_of(far).find("did you mean") == std::string::npos);
}

TEST_CASE("names that are none never reach LLVM") {
  for (const std::string& odd : {std::string("host:help"),
                                 std::string("host:+avx512f"),
                                 std::string("host:x86-64,+avx512f"),
                                 std::string("host:x86-64-v3 "),
                                 std::string("host: x86-64"),
                                 std::string("host:x86-64\0", 12),
                                 std::string("host:host:x86-64"),
                                 std::string("host:generic,-64bit"),
                                 std::string("sm_"),
                                 std::string("sm_0"),
                                 std::string("sm_999999999999999999999"),
                                 std::string("sm_90,+ptx99"),
                                 std::string("sm_90 "),
                                 std::string("sm_-90"),
                                 std::string("sm_090"),
                                 std::string("sm_90\0", 6),
                                 std::string("sm_20"),
                                 std::string("sm_121f"),
                                 std::string("nvptx64"),
                                 std::string("x86_64-unknown-linux-gnu"),
                                 std::string("host:\xff\n"),
                                 "host:" + std::string(1 << 20, 'a'),
                                 "sm_" + std::string(1 << 20, '9')}) {
    const std::string said = refusal_of(odd);
    CHECK(said.size() < 500);
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("random names are refused, or make code") {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  const std::vector<Cpu> cpus = cpus_of_llvm();
  int made = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string name = random() % 4 == 0 ? fmt::format("sm_{}", random() % 130)
                                         : fmt::format("host:{}", cpus[random() % cpus.size()].name);
    for (std::size_t edits = random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % (name.size() + 1);
      if (random() % 2 == 0)
        name.insert(at, 1, static_cast<char>(random() % 256));
      else if (at < name.size())
        name.erase(at, 1 + random() % 2);
    }
    INFO("name ", name);
    const auto compiler = TargetCompiler::create(name);
    if (compiler)
      ++made;
    else
      CHECK(compiler.error().code == Code::invalid_argument);
    // Each accepted name makes code, as above. Here only a few are compiled, since LLVM knows all of them.
    if (compiler && made % 50 == 0) CHECK((*compiler)->compile(program_of(kPrograms[0]), {}));
  }
  CHECK(made > 100);
}

TEST_CASE("random configs are refused, or are points of the search space that make code") {
  const std::uint64_t seed = padlock::testing::seed_or(1);
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  constexpr std::array kKeys = {"vector_bytes", "unroll",  "split", "store", "plan",  "task_kib",
                                "map",          "threads", "items", "cache", "tiles", ""};
  constexpr std::array kValues = {"16",
                                  "32",
                                  "64",
                                  "1",
                                  "2",
                                  "0",
                                  "-1",
                                  "3",
                                  "128",
                                  "4294967296",
                                  "99999999999999999999",
                                  "plain",
                                  "nontemporal",
                                  "tiles",
                                  "large",
                                  "evict_first",
                                  "none",
                                  "1e3",
                                  "0x10",
                                  ""};
  int made = 0;
  for (const char* target : {"host:x86-64", "host:x86-64-v4", "host:neoverse-v2", "sm_90"}) {
    const auto compiler = value_of(TargetCompiler::create(target));
    const std::vector<Config> space = compiler->all_configs();
    for (int round = 0; round < 1000; ++round) {
      std::string text = random() % 4 == 0 ? to_string(space[random() % space.size()]) : "";
      for (std::size_t i = random() % 3; i > 0; --i)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", kKeys[random() % kKeys.size()],
                            kValues[random() % kValues.size()]);
      if (random() % 8 == 0) text.insert(random() % (text.size() + 1), 1, static_cast<char>(random() % 256));
      INFO(target, " ", text);
      const auto config = compiler->parse_config(text);
      if (!config)
        CHECK(config.error().code == Code::invalid_argument);
      else if (!text.empty() && ++made % 20 == 0)
        CHECK(compiler->compile(program_of(kPrograms[0]), {.config = *config}));
    }
  }
  CHECK(made > 100);
}

/// What a text names or counts also reaches LLVM: names of functions, numbers of elements, constants.
TEST_CASE("names and numbers of a program make code, or are refused before LLVM sees them") {
  const std::string longest(4000, 'n');
  std::vector<std::string> texts;
  for (const std::string& name : {std::string("main"), std::string("memcpy"), std::string("llvm"), std::string("_"),
                                  std::string("nvvm_read"), std::string("_GLOBAL_OFFSET_TABLE_"), longest})
    texts.push_back(
        fmt::format("program {0}(x: f32[S]) {{ y = pad(x, low = [1], high = [1], value = 0) return y }}", name));
  for (const std::string& number : {std::string("0"), std::string("1"), std::string("-1"), std::string("2147483648"),
                                    std::string("4611686018427387904"), std::string("9223372036854775807"),
                                    std::string("9223372036854775808"), std::string(400, '9')}) {
    texts.push_back(
        fmt::format("program p(x: u8[{}]) {{ y = pad(x, low = [1], high = [1], value = 0) return y }}", number));
    texts.push_back(
        fmt::format("program p(x: u8[S]) {{ y = pad(x, low = [{}], high = [0], value = 0) return y }}", number));
    texts.push_back(
        fmt::format("program p(x: u8[S]) {{ y = pad(x, low = [0], high = [-S mod {}], value = 0) return y }}", number));
    texts.push_back(
        fmt::format("program p(x: f16[S]) {{ y = pad(x, low = [1], high = [0], value = {}) return y }}", number));
  }
  int made = 0;
  for (const std::string& target :
       {std::string("host:x86-64"), std::string("host:x86-64-v4"), std::string("host:armv8-a"), std::string("sm_75")}) {
    const auto compiler = value_of(TargetCompiler::create(target));
    for (const std::string& text : texts) {
      INFO(target, " ", text.substr(0, 200));
      const auto program = ir::parse_program(text);
      if (!program) continue;
      const auto code = compiler->compile(*program, {});
      if (code)
        ++made;
      else
        CHECK(code.error().code != Code::internal);
    }
  }
  CHECK(made > 30);
}

}  // namespace
}  // namespace padlock::compiler
