// Random chains of reshape, transpose, pad, slice and concat: host and GPU kernels (on this machine) against the
// interpreter. No obligation may be left undecided. Counts how often the guards of guarded ones hold.
#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <string>

#include "abi/launch_plan.h"
#include "compiler/targets/target_compiler.h"
#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/differential/host_check.h"
#include "tests/differential/programs/next_values.h"

namespace padlock::differential {
namespace {

constexpr const char* kUsage =
    "padlock_random_chains [--programs=N] [--first=N] [--seed=S] [--full] [--list]\n"
    "--full (or PADLOCK_FULL=1): 20000 chains. --list prints each chain, and each obligation that is left undecided.\n";
constexpr std::uint64_t kChains = 250;
constexpr std::uint64_t kFullChains = 20000;
constexpr int kSizes = 3;

struct Options {
  std::uint64_t seed = 0, first = 0, programs = 0;
  bool full = false, list = false;
};

class ChainRun {
 public:
  ChainRun(const Options& options, std::unique_ptr<compiler::TargetCompiler> host,
           std::unique_ptr<compiler::TargetCompiler> gpu)
      : seed_(options.seed), lists_(options.list), host_(std::move(host)), gpu_(std::move(gpu)) {}

  /// What is wrong with a chain; empty if nothing is.
  std::string check(std::uint64_t index) {
    const GeneratedProgram generated = random_chain(seed_, index);
    const std::string text = generated.text();
    name_current_case(fmt::format("--seed={} --first={} --programs=1\n{}", seed_, index, text));
    const Result<ir::Program> program = ir::parse_program(text);
    if (lists_) fmt::print("chain {}\n{}", index, text);
    if (!program) return text + "is refused: " + program.error().to_string();
    std::string wrong = run(*program, generated, index, *host_, compiler::TargetCompiler::Options{});
    const compiler::TargetCompiler::Options simt{.config = compiler::GpuConfig{}, .for_simt = true};
    if (wrong.empty()) wrong = run(*program, generated, index, *gpu_, simt);
    return wrong.empty() ? wrong : text + wrong;
  }

  [[nodiscard]] std::int64_t obligations() const { return obligations_; }
  [[nodiscard]] std::int64_t undecided() const { return undecided_; }
  [[nodiscard]] std::int64_t guarded() const { return guarded_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }
  /// Launches of kernels with guarded loads, and those of them in which the guards hold.
  [[nodiscard]] std::int64_t asked() const { return asked_; }
  [[nodiscard]] std::int64_t held() const { return held_; }

 private:
  template <class Compiler, class CompilerOptions>
  std::string run(const ir::Program& program, const GeneratedProgram& generated, std::uint64_t index,
                  Compiler& compiler, const CompilerOptions& options) {
    const auto proofs = compiler.prove(program, options);
    if (!proofs) return "is not proved: " + proofs.error().to_string();
    for (const compiler::Proof& proof : *proofs)
      for (const compiler::Obligation& one : proof.obligations) {
        ++obligations_;
        // Sizes of chains are far-fetched: a load may be tested in the code, and a negative extent be left to binding.
        const bool has_other_way =
            one.kind == compiler::ObligationKind::load || one.kind == compiler::ObligationKind::extent;
        guarded_ += one.verdict == compiler::Verdict::guarded && one.kind == compiler::ObligationKind::load ? 1 : 0;
        const bool is_tested = one.verdict == compiler::Verdict::checked && has_other_way;
        undecided_ += is_tested ? 1 : 0;
        if (is_tested && lists_) fmt::print("chain {}, {}: {}\n", index, proof.config, to_string(one));
        if (!is_tested && (one.verdict == compiler::Verdict::checked || one.verdict == compiler::Verdict::refuted))
          return to_string(one);
      }
    const Result<runtime::HostImage> code = load(compiler.compile(program, options));
    if (!code) return "does not compile: " + code.error().to_string();
    testing::Rng rng = testing::Rng(seed_).fork(index).fork(2);
    for (int k = 0; k < kSizes; ++k)
      if (std::string wrong = run_sizes(program, generated, *code, k, rng); !wrong.empty()) return wrong;
    return {};
  }

  std::string run_sizes(const ir::Program& program, const GeneratedProgram& generated, const runtime::HostImage& code,
                        int k, testing::Rng& rng) {
    std::string wrong;
    const auto is_refused = [&](const SymbolValues& values) {
      return !ir::Binding::bind(program, generated.request(values, rng)).has_value();
    };
    auto values = k == 0 ? std::optional(generated.seed_values) : next_values(generated, is_refused, rng, wrong);
    if (!wrong.empty()) return wrong;
    if (!values) values = generated.seed_values;
    const Result<ir::Binding> binding = ir::Binding::bind(program, generated.request(*values, rng));
    if (!binding) return "a legal binding was refused: " + binding.error().to_string();
    const Result<Problem> problem = random_problem(program, *binding, rng);
    if (!problem) return "the interpreter failed: " + problem.error().to_string();
    ++runs_;
    count_guards(code, *binding);
    wrong = check_both_placements(code, *problem, arena_, rng);
    return wrong.empty() ? wrong : fmt::format("{} with {}", wrong, describe(*values));
  }

  void count_guards(const runtime::HostImage& code, const ir::Binding& binding) {
    for (const auto& variants : code.kernels)
      for (const runtime::HostVariant& variant : variants) {
        if (std::ranges::none_of(variant.abi.guards,
                                 [](const abi::Guard& guard) { return guard.assumption == abi::Assumption::in_range; }))
          continue;
        ++asked_;
        held_ += abi::guards_hold(variant.abi, binding) ? 1 : 0;
      }
  }

  std::uint64_t seed_;
  bool lists_;
  std::unique_ptr<compiler::TargetCompiler> host_;
  std::unique_ptr<compiler::TargetCompiler> gpu_;
  GuardedArena arena_;
  std::int64_t obligations_ = 0, undecided_ = 0, guarded_ = 0, runs_ = 0, asked_ = 0, held_ = 0;
};

int run(const Options& options) {
  auto host = compiler::TargetCompiler::create("host");
  auto gpu = compiler::TargetCompiler::create("sm_90");
  if (!host || !gpu) return fmt::print("no compiler\n"), 1;
  ChainRun chains(options, *std::move(host), *std::move(gpu));
  for (std::uint64_t i = 0; i < options.programs; ++i)
    if (const std::string wrong = chains.check(options.first + i); !wrong.empty())
      return fmt::print("\nFAILED\n{}\nreproduce: padlock_random_chains --seed={} --first={} --programs=1\n", wrong,
                        options.seed, options.first + i),
             1;
  fmt::print(
      "{} chains, {} runs, {} obligations: {} loads guarded (the guards hold in {} of {} launches), {} undecided\n",
      options.programs, chains.runs(), chains.obligations(), chains.guarded(), chains.held(), chains.asked(),
      chains.undecided());
  return chains.undecided() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  options.seed = padlock::testing::seed_or(20261123);
  options.full = padlock::testing::is_full_run();
  const auto parse = [&](const padlock::testing::Option& option) {
    return option.sets("--programs", options.programs) || option.sets("--first", options.first) ||
           option.sets("--seed", options.seed) || option.sets("--full", options.full) ||
           option.sets("--list", options.list);
  };
  if (!padlock::testing::read_options(argc, argv, kUsage, parse)) return 2;
  if (options.programs == 0) options.programs = options.full ? kFullChains : kChains;
  fmt::print("seed {}\n", options.seed);
  install_crash_report();
  return run(options);
}
