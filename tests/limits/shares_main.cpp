#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/pad_case.h"
#include "compiler/pipeline.h"
#include "compiler/targets/target_compiler.h"
#include "support/file.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/differential/programs/random_program.h"

// Measures how much of each limit real programs use: the examples and the benchmark's programs, compiled for a CPU and
// a GPU, and random programs, with and without constraints on their sizes, each proved under a random config. None may
// be refused or use up a limit.
namespace padlock::compiler {
namespace {

constexpr const char* kUsage = "usage: padlock_limit_shares [--seed=N] [--first=N] [--programs=N]\n";

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t programs = 150;
};

/// The most that one program used of each limit.
class Shares {
 public:
  void use(const char* what, std::int64_t limit, std::int64_t used, const std::string& program) {
    Share& share = shares_[what];
    if (share.limit == limit && share.used >= used) return;
    share = {limit, used, program};
  }
  /// Runs a pass of a program. A refusal is printed.
  template <class Pass>
  auto pass(const char* what, std::int64_t limit, const std::string& program, Pass&& run) {
    const std::int64_t before = steps_taken();
    auto outcome = run();
    use(what, limit, steps_taken() - before, program);
    if (!outcome) {
      ++refused_;
      fmt::print("{}: {}\n", program, outcome.error().to_string());
    }
    return outcome;
  }
  [[nodiscard]] bool report(const std::string& of) {
    bool fine = refused_ == 0;
    fmt::print("{}, {} refused. The most that one used:\n", of, refused_);
    for (const auto& [what, share] : shares_) {
      fine &= share.used < share.limit;
      fmt::print("  {:<24} {:>9} of {:>9}, {:5.2f} %, {}\n", what, share.used, share.limit,
                 100.0 * static_cast<double>(share.used) / static_cast<double>(share.limit), share.program);
    }
    std::fflush(stdout);
    return fine;
  }

 private:
  struct Share {
    std::int64_t limit = 0, used = 0;
    std::string program;
  };
  std::map<std::string, Share> shares_;
  std::int64_t refused_ = 0;
};

void use_kernel(const Kernel& kernel, const std::string& name, Shares& shares) {
  const Graph& graph = kernel.graph;
  shares.use("nodes of a kernel", limits::kKernelNodes, static_cast<std::int64_t>(graph.size()), name);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    shares.use("conditions on an element", limits::kPathConditions, std::ssize(graph.conditions_of(node.guard)), name);
    for (const ir::Expr c : node.coordinates)
      shares.use("levels of a coordinate", limits::kCoordinateDepth, c.depth(), name);
  }
}

/// Parses and lowers a program; nullopt if it is refused.
std::optional<std::vector<Kernel>> lowered(std::optional<ir::Program>& program, const std::string& text,
                                           const std::string& name, Shares& shares) {
  const auto parsed = [&]() -> Status {
    PADLOCK_TRY(program, ir::parse_program(text));
    return {};
  };
  if (!shares.pass("steps to verify", limits::kVerifySteps, name, parsed)) return std::nullopt;
  auto kernels = shares.pass("steps to gather", limits::kGatherSteps, name, [&] { return lower(*program); });
  if (!kernels) return std::nullopt;
  for (const Kernel& kernel : *kernels) use_kernel(kernel, name, shares);
  return *std::move(kernels);
}

TargetCompiler& host_compiler() {
  static const auto kHost = TargetCompiler::create("host:x86-64-v3");
  return **kHost;
}

TargetCompiler& gpu_compiler() {
  static const auto kGpu = TargetCompiler::create("sm_90");
  return **kGpu;
}

/// The instructions of LLVM's that a program becomes: the lines of its functions that are indented.
std::int64_t instructions_of(const std::string& code) {
  std::int64_t instructions = 0;
  for (std::size_t at = 0; (at = code.find("\n  ", at)) != std::string::npos; ++at) ++instructions;
  return instructions;
}

void use_code(const ir::Program& program, const std::string& name, Shares& shares) {
  const auto code = shares.pass("steps to prove, a CPU", limits::kProofSteps, name,
                                [&] { return host_compiler().emit(program, Stage::llvm, {}); });
  if (code) shares.use("LLVM's instructions", limits::kInstructions, instructions_of(*code), name);
  const auto ptx = shares.pass("steps to prove, a GPU", limits::kProofSteps, name,
                               [&] { return gpu_compiler().emit(program, Stage::llvm, {}); });
  if (ptx) shares.use("instructions of a GPU", limits::kGpuInstructions, instructions_of(*ptx), name);
}

void compile_program(const std::string& text, const std::string& name, Shares& shares) {
  std::optional<ir::Program> program;
  if (!lowered(program, text, name, shares)) return;
  static_cast<void>(shares.pass("steps to prove, a CPU", limits::kProofSteps, name,
                                [&] { return host_compiler().compile(*program, {}); }));
  static_cast<void>(shares.pass("steps to prove, a GPU", limits::kProofSteps, name,
                                [&] { return gpu_compiler().compile(*program, {}); }));
  use_code(*program, name, shares);
}

/// Schedules and proves all kernels of a program under one config.
template <class Make>
void prove_kernels(const std::vector<Kernel>& kernels, const char* what, const std::string& name, Shares& shares,
                   ProofCache& cache, const Make& make) {
  std::size_t operations = 0;
  shares.pass(what, limits::kProofSteps, name, [&]() -> Status {
    for (const Kernel& kernel : kernels) {
      Schedule schedule = make(kernel);
      operations += schedule.index_operations;
      PADLOCK_CHECK(prove(std::move(schedule), {.limits = {}, .cache = &cache, .keep = false}));
    }
    return {};
  });
  shares.use("operations on indices", limits::kIndexOperations, static_cast<std::int64_t>(operations), name);
}

class RandomPrograms {
 public:
  RandomPrograms(std::uint64_t seed, differential::Sizes sizes) : seed_(seed), sizes_(sizes) {}

  void prove(std::uint64_t index, Shares& shares) {
    const std::string name = fmt::format("program {}", index);
    std::optional<ir::Program> program;
    const auto kernels = lowered(program, differential::random_program(seed_, index, sizes_).text(), name, shares);
    if (!kernels) return;
    testing::Rng rng = testing::Rng(seed_).fork(index).fork(9);
    const HostConfig& host = rng.pick(hosts_);
    const GpuConfig& gpu = rng.pick(gpus_);
    prove_kernels(*kernels, "steps to prove, a CPU", name, shares, lemmas_,
                  [&](const Kernel& kernel) { return schedule_for_host(kernel, host); });
    prove_kernels(*kernels, "steps to prove, a GPU", name, shares, lemmas_,
                  [&](const Kernel& kernel) { return schedule_for_gpu(kernel, gpu); });
    use_code(*program, name, shares);
  }

 private:
  std::uint64_t seed_;
  differential::Sizes sizes_;
  std::vector<HostConfig> hosts_ = HostConfig::all();
  std::vector<GpuConfig> gpus_ = GpuConfig::all();
  ProofCache lemmas_;
};

bool check_fixed() {
  const auto text_of = [](const std::filesystem::path& path) { return read_text_file(path, 1 << 20).value(); };
  Shares shares;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".pad") files.insert(entry.path());
  for (const auto& path : files) compile_program(text_of(path), path.filename(), shares);
  const auto cases = bench::parse_cases(text_of(PADLOCK_SOURCE_DIR "/bench/cases.txt"), "programs").value();
  for (const bench::PadCase& pad : cases) compile_program(bench::program_text({.pad = pad}), pad.name, shares);
  return shares.report(fmt::format("{} examples and {} programs of the benchmark", files.size(), cases.size()));
}

bool check_random(const Options& options, differential::Sizes sizes, const char* what) {
  Shares shares;
  RandomPrograms programs(options.seed, sizes);
  for (std::uint64_t i = options.first; i < options.first + options.programs; ++i) programs.prove(i, shares);
  return shares.report(fmt::format("seed {}: {} random programs {}", options.seed, options.programs, what));
}

}  // namespace
}  // namespace padlock::compiler

int main(int argc, char** argv) {
  using namespace padlock;
  using differential::Sizes;
  compiler::Options options;
  options.seed = testing::seed_or(20240731);
  if (testing::is_full_run()) options.programs = 10'000;
  const auto parse = [&](const testing::Option& option) {
    return option.sets("--seed", options.seed) || option.sets("--first", options.first) ||
           option.sets("--programs", options.programs);
  };
  if (!testing::read_options(argc, argv, compiler::kUsage, parse)) return 2;
  bool fine = compiler::check_fixed();
  fine &= compiler::check_random(options, Sizes::stated, "with constraints");
  fine &= compiler::check_random(options, Sizes::free, "that multiply sizes and constrain none");
  return fine ? 0 : 1;
}
