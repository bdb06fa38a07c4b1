#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "abi/launch_plan.h"
#include "compiler/pipeline.h"
#include "compiler/prover/kernel_prover.h"
#include "compiler/targets/host_config.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/compiler/schedule/schedule_interpreter.h"
#include "tests/differential/programs/next_values.h"
#include "tests/differential/programs/random_program.h"

// Proves random programs under one random config each. Nothing may be refuted, and at most one obligation in a thousand
// undecided; these are listed. Kernels with guarded loads are executed at sizes for which the guards hold.
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
  /// the variant that assumes nothing tests loads. Bounds of indices of 64 bits are
  /// preconditions.
  std::int64_t needed = 0;
  /// Executions at sizes for which loads' guards hold, and for which they do not.
  std::int64_t executed = 0, failed_guards = 0;

  static bool is_asked(const Obligation& guarded, const compiler::Proof& proof) {
    if (guarded.kind == compiler::ObligationKind::load) return !proof.in_range.empty();
    return !proof.preconditions.empty() && guarded.access.ends_with("in 64 bits");
  }

  void add(std::uint64_t index, const compiler::Proof& proof) {
    milliseconds.push_back(proof.milliseconds);
    for (const Obligation& obligation : proof.obligations) {
      ++verdicts[obligation.verdict];
      if (obligation.verdict == Verdict::guarded) needed += is_asked(obligation, proof) ? 0 : 1;
      const bool listed = obligation.verdict == Verdict::checked || obligation.verdict == Verdict::refuted;
      if (listed && shown++ < 40) fmt::print("program {}, {}: {}\n", index, proof.config, to_string(obligation));
    }
  }
};

/// Executes a kernel at sizes for which its loads' guards hold: no load may leave its tensor.
bool guards_suffice(const GeneratedProgram& generated, const compiler::Schedule& schedule, const compiler::Proof& proof,
                    testing::Rng& rng, Tally& tally) {
  constexpr int kSizes = 5;
  const ir::Program& program = *schedule.kernel.program;
  const auto bind = [&](const SymbolValues& values) {
    return ir::Binding::bind(program, generated.request(values, rng));
  };
  std::string wrong;
  for (int k = 0; k < kSizes && wrong.empty(); ++k) {
    const auto is_refused = [&](const SymbolValues& values) { return !bind(values).has_value(); };
    const auto values = k == 0 ? std::optional(generated.seed_values) : next_values(generated, is_refused, rng, wrong);
    if (!values || !wrong.empty()) continue;
    const Result<ir::Binding> binding = bind(*values);
    if (!binding) return fmt::print("a legal binding was refused: {}\n", binding.error().to_string()), false;
    const bool holds = std::ranges::all_of(proof.in_range, [&](const ir::Constraint& one) {
      return abi::guard_holds({abi::Assumption::in_range, one}, *binding);
    });
    ++(holds ? tally.executed : tally.failed_guards);
    if (!holds) continue;
    const std::array tasks = {compiler::whole_launch(schedule, binding->values())};
    const auto trace = compiler::interpret(schedule, binding->values(), tasks, {});
    if (!trace) return fmt::print("{}\n", trace.error().to_string()), false;
    for (const compiler::Event& event : trace->events)
      if (event.kind == compiler::ObligationKind::load)
        wrong = fmt::format("{} with {}", event.text, describe(*values));
  }
  if (!wrong.empty()) fmt::print("a guarded load: {}\n", wrong);
  return wrong.empty();
}

/// Returns false if a program is refused, or if the guards of its loads do not suffice.
bool prove_program(const Options& options, std::uint64_t index, compiler::ProofCache& cache, Tally& tally) {
  const GeneratedProgram generated = random_program(options.seed, index);
  const std::string text = generated.text();
  const Result<ir::Program> program = ir::parse_program(text);
  if (!program) return fmt::print("program {} is refused: {}\n", index, program.error().to_string()), false;
  testing::Rng rng = testing::Rng(options.seed).fork(index).fork(7);
  const std::vector<compiler::HostConfig> configs = compiler::HostConfig::all();
  const compiler::HostConfig config = rng.pick(configs);
  auto kernels = compiler::lower(*program);
  if (!kernels) return fmt::print("program {} is not lowered: {}\n", index, kernels.error().to_string()), false;
  for (compiler::Kernel& kernel : *kernels) {
    const compiler::Schedule schedule = compiler::schedule_for_host(std::move(kernel), config);
    const auto proof = compiler::list_obligations(schedule, {.cache = &cache});
    if (!proof) return fmt::print("program {}: {}\n{}\n", index, proof.error().to_string(), text), false;
    tally.add(index, *proof);
    if (!proof->in_range.empty() && !guards_suffice(generated, schedule, *proof, rng, tally))
      return fmt::print("program {}, {}\n{}", index, proof->config, text), false;
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
  fmt::print("\nguards of loads hold at {} sizes, which were executed, and fail at {}\n", tally.executed,
             tally.failed_guards);
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
