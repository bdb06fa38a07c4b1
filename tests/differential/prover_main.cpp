#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "compiler/prover/proven_kernel.h"
#include "compiler/target/host_config.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/differential/programs/random_program.h"

// Proves random programs under a random config each: nothing is refuted, and at most one obligation in a thousand is
// left undecided. What is undecided is listed.
namespace padlock::differential {
namespace {

using compiler::Obligation;
using compiler::Verdict;

constexpr const char* kUsage = "usage: padlock_prove_random [--seed=N] [--first=N] [--programs=N] [--times]\n";

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t programs = 1000;
  bool times = false;
};

struct Tally {
  std::map<Verdict, std::int64_t> verdicts;
  std::vector<double> milliseconds;
  std::int64_t shown = 0;
  /// Obligations that hold under guards which nothing asks a launch for, or without which the kernel would be wrong:
  /// the variant that assumes nothing divides in 64 bits instead. Bounds of indices of 64 bits are preconditions.
  std::int64_t needed = 0;

  void add(std::uint64_t index, const compiler::Proof& proof) {
    milliseconds.push_back(proof.milliseconds);
    for (const Obligation& obligation : proof.obligations) {
      ++verdicts[obligation.verdict];
      if (obligation.verdict == Verdict::guarded)
        needed += obligation.access.ends_with("in 64 bits")
                      ? proof.preconditions.empty()
                      : proof.launch_guards.empty() || !obligation.access.ends_with("divides in 32 bits");
      const bool listed = obligation.verdict == Verdict::checked || obligation.verdict == Verdict::refuted;
      if (listed && shown++ < 40) fmt::print("program {}, {}: {}\n", index, proof.config, to_string(obligation));
    }
  }
};

/// False where a program is not understood at all.
bool prove_program(const Options& options, std::uint64_t index, compiler::ProofCache& cache, Tally& tally) {
  const std::string text = random_program(options.seed, index).text();
  const Result<ir::Program> program = ir::parse_program(text);
  if (!program) return fmt::print("program {} is refused: {}\n", index, program.error().to_string()), false;
  testing::Rng rng = testing::Rng(options.seed).fork(index).fork(7);
  const std::vector<compiler::HostConfig> configs = compiler::HostConfig::all();
  const compiler::HostConfig config = rng.pick(configs);
  auto kernels = compiler::lower(*program);
  if (!kernels) return fmt::print("program {} is not lowered: {}\n", index, kernels.error().to_string()), false;
  for (compiler::Kernel& kernel : *kernels) {
    const auto proof =
        compiler::list_obligations(compiler::schedule_for_host(std::move(kernel), config), {.cache = &cache});
    if (!proof) return fmt::print("program {}: {}\n{}\n", index, proof.error().to_string(), text), false;
    tally.add(index, *proof);
  }
  return true;
}

double percentile(std::vector<double>& sorted, double p) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(p * static_cast<double>(sorted.size())))];
}

int run(const Options& options) {
  compiler::ProofCache cache;
  Tally tally;
  bool understood = true;
  for (std::uint64_t i = 0; i < options.programs; ++i)
    understood &= prove_program(options, options.first + i, cache, tally);
  std::int64_t all = 0;
  for (const auto& [verdict, count] : tally.verdicts) all += count;
  fmt::print("seed {}: {} programs, {} kernels, {} obligations:", options.seed, options.programs,
             tally.milliseconds.size(), all);
  for (const auto& [verdict, count] : tally.verdicts) fmt::print(" {} {}", count, name_of(verdict));
  fmt::print("\n");
  if (options.times) {
    std::ranges::sort(tally.milliseconds);
    fmt::print("ms for a kernel: median {:.2f}, 90 % {:.2f}, 99 % {:.2f}, most {:.2f}\n",
               percentile(tally.milliseconds, 0.5), percentile(tally.milliseconds, 0.9),
               percentile(tally.milliseconds, 0.99), percentile(tally.milliseconds, 1));
  }
  const bool few = tally.verdicts[Verdict::checked] * 1000 <= all;
  return understood && tally.verdicts[Verdict::refuted] == 0 && tally.needed == 0 && few ? 0 : 1;
}

bool parse_option(const testing::Option& option, Options& options) {
  return option.sets("--times", options.times) || option.sets("--seed", options.seed) ||
         option.sets("--first", options.first) || option.sets("--programs", options.programs);
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  options.seed = padlock::testing::seed_or(20240731);
  if (padlock::testing::is_full_run()) options.programs = 20'000;
  const auto parse = [&](const padlock::testing::Option& option) { return parse_option(option, options); };
  if (!padlock::testing::read_options(argc, argv, kUsage, parse)) return 2;
  return run(options);
}
