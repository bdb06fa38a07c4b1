#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/pad_case.h"
#include "compiler/pipeline.h"
#include "compiler/prover/kernel_prover.h"
#include "compiler/schedule/model/schedule_key.h"
#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_config.h"
#include "support/file.h"
#include "tests/common/environment.h"
#include "tests/differential/programs/random_program.h"
#include "tests/solver/isl_solver.h"

// Counts the questions that the simplex leaves undecided, and isl's answers to them. Proves each schedule of the
// examples, the benchmark's programs and random ones, and if the simplex did not decide all, proves it again with isl's
// help.
namespace padlock::compiler {
namespace {

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t programs = 100;
  std::uint64_t every = 0;   // takes all configs of one program in so many; of the others `few`
  int few = 2;               // configs of each target: the default and others, spread over the search space
  bool all_configs = false;  // of the examples and the benchmark's programs
};

struct Tally {
  std::int64_t programs = 0, kernels = 0, schedules = 0, obligations = 0, systems = 0;
  std::int64_t undecided = 0, decided_by_isl = 0, proofs_with_undecided = 0;
  std::map<std::pair<Verdict, Verdict>, std::int64_t> changes;  // without isl, with it
  std::map<Verdict, std::int64_t> verdicts;
  std::int64_t errors = 0;
};

struct Caches {
  ProofCache without, with;
};

void compare(const Proof& without, const Proof& with, const std::string& what, Tally& tally) {
  if (without.obligations.size() != with.obligations.size()) fmt::print("{}: other obligations\n", what);
  for (std::size_t i = 0; i < std::min(without.obligations.size(), with.obligations.size()); ++i) {
    const Obligation& one = without.obligations[i];
    const Obligation& other = with.obligations[i];
    if (one.verdict == other.verdict) continue;
    ++tally.changes[{one.verdict, other.verdict}];
    fmt::print("{}, {}: {}\n  with isl: {}\n", what, without.config, to_string(one), to_string(other));
  }
}

void prove_schedule(const Schedule& schedule, const std::string& what, Caches& caches, Tally& tally) {
  solver::IntegerSolver simplex;
  solver::SolverWithIsl both;
  const Result<Proof> with = list_obligations(schedule, {.solver = &both, .cache = &caches.with});
  ++tally.schedules;
  if (!with) return ++tally.errors, fmt::print("{}: {}\n", what, with.error().to_string()), void();
  tally.systems += both.calls();
  tally.undecided += both.asked();
  tally.decided_by_isl += both.answered();
  tally.obligations += static_cast<std::int64_t>(with->obligations.size());
  if (both.asked() == 0) {
    for (const Obligation& o : with->obligations) ++tally.verdicts[o.verdict];
    return;
  }
  ++tally.proofs_with_undecided;
  const Result<Proof> without = list_obligations(schedule, {.solver = &simplex, .cache = &caches.without});
  if (!without) return ++tally.errors, fmt::print("{} without isl: {}\n", what, without.error().to_string()), void();
  for (const Obligation& o : without->obligations) ++tally.verdicts[o.verdict];
  compare(*without, *with, what, tally);
}

template <class Config, class Make>
void prove_configs(const Kernel& kernel, const std::vector<Config>& configs, Make make, const std::string& what,
                   Caches& caches, Tally& tally) {
  std::set<CodeKey> seen;
  for (const Config& config : configs) {
    const Schedule schedule = make(kernel, config);
    if (seen.insert(key_of(schedule)).second) prove_schedule(schedule, what, caches, tally);
  }
}

/// Every so many of all, from a start of its own.
template <class Config>
std::vector<Config> some(const std::vector<Config>& all, Config standard, std::uint64_t index, int few) {
  std::vector<Config> taken = {standard};
  for (int i = 1; i < few; ++i)
    taken.push_back(all[(index * 7919 + static_cast<std::uint64_t>(i) * all.size() / static_cast<std::uint64_t>(few)) %
                        all.size()]);
  return taken;
}

void prove_program(const std::string& text, const std::string& what, int few, std::uint64_t index, Tally& tally,
                   Caches& caches) {
  const Result<ir::Program> program = ir::parse_program(text);
  if (!program) return ++tally.errors, fmt::print("{}: {}\n", what, program.error().to_string()), void();
  const Result<std::vector<Kernel>> kernels = lower(*program);
  if (!kernels) return ++tally.errors, fmt::print("{}: {}\n", what, kernels.error().to_string()), void();
  ++tally.programs;
  const std::vector<HostConfig> host = HostConfig::all();
  const std::vector<GpuConfig> gpu = GpuConfig::all();
  for (const Kernel& kernel : *kernels) {
    ++tally.kernels;
    prove_configs(
        kernel, few > 0 ? some(host, HostConfig{}, index, few) : host,
        [](Kernel k, const HostConfig& c) { return schedule_for_host(std::move(k), c); }, what, caches, tally);
    prove_configs(
        kernel, few > 0 ? some(gpu, GpuConfig::standard(), index, few) : gpu,
        [](Kernel k, const GpuConfig& c) { return schedule_for_gpu(std::move(k), c); }, what, caches, tally);
  }
}

void report(const char* what, const Tally& tally) {
  fmt::print(
      "{}: {} programs, {} kernels, {} schedules, {} obligations, {} systems; not decided by the simplex: {} in "
      "{} proofs ({} decided by isl); errors {}; without isl",
      what, tally.programs, tally.kernels, tally.schedules, tally.obligations, tally.systems, tally.undecided,
      tally.proofs_with_undecided, tally.decided_by_isl, tally.errors);
  for (const auto& [verdict, count] : tally.verdicts) fmt::print(" {} {}", count, name_of(verdict));
  for (const auto& [change, count] : tally.changes)
    fmt::print("; {} {} where isl makes it {}", count, name_of(change.first), name_of(change.second));
  fmt::print("\n");
  std::fflush(stdout);
}

std::string text_of(const std::filesystem::path& path) {
  const auto text = read_text_file(path, 1 << 20);
  if (!text) std::abort();
  return *text;
}

/// The examples, and the forty programs of the benchmark unless only a few are wanted.
std::vector<Tally> prove_fixed(const Options& options) {
  std::vector<Tally> tallies(2);
  Caches caches;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_EXAMPLES_FOLDER))
    if (entry.path().extension() == ".pad") files.insert(entry.path());
  const int few = options.all_configs ? 0 : options.few;
  for (const auto& path : files) prove_program(text_of(path), path.filename(), few, 0, tallies[0], caches);
  report("examples", tallies[0]);
  const auto cases = bench::parse_cases(text_of(PADLOCK_BENCH_FOLDER "/cases.txt"), "programs");
  if (!cases) std::abort();
  for (const bench::PadCase& pad : *cases)
    prove_program(bench::program_text({.pad = pad}), pad.name, few, 0, tallies[1], caches);
  report("bench/cases.txt", tallies[1]);
  return tallies;
}

std::vector<Tally> prove_random(const Options& options) {
  std::vector<Tally> tallies(2);
  Caches caches;
  for (std::uint64_t i = options.first; i < options.first + options.programs; ++i) {
    const bool full = options.every > 0 && i % options.every == 0;
    prove_program(differential::random_program(options.seed, i).text(), fmt::format("program {}", i),
                  full ? 0 : options.few, i, tallies[full ? 1 : 0], caches);
  }
  report("random programs, some configs", tallies[0]);
  if (options.every > 0) report("random programs, all configs", tallies[1]);
  return tallies;
}

/// Returns 1 if isl proves more than one obligation in a thousand that is not proved without it, or if anything failed.
int run(const Options& options) {
  bool lost = false;
  for (const auto& tallies : {prove_fixed(options), prove_random(options)})
    for (const Tally& tally : tallies) {
      std::int64_t changes = 0;
      for (const auto& [change, count] : tally.changes) changes += count;
      lost |= changes * 1000 > tally.obligations || tally.errors > 0;
    }
  return lost ? 1 : 0;
}

bool parse_option(std::string_view argument, Options& options) {
  const auto number = [&](std::string_view name, std::uint64_t& value) {
    if (!argument.starts_with(name)) return false;
    value = std::strtoull(argument.data() + name.size(), nullptr, 0);
    return true;
  };
  std::uint64_t few = 0;
  if (number("--few=", few)) return options.few = static_cast<int>(few), true;
  if (argument == "--all-configs") return options.all_configs = true;
  return number("--seed=", options.seed) || number("--first=", options.first) || number("--every=", options.every) ||
         number("--programs=", options.programs);
}

}  // namespace
}  // namespace padlock::compiler

int main(int argc, char** argv) {
  padlock::compiler::Options options;
  options.seed = padlock::testing::seed_or(20240731);
  for (int i = 1; i < argc; ++i)
    if (!padlock::compiler::parse_option(argv[i], options)) return fmt::print(stderr, "unknown {}\n", argv[i]), 2;
  return padlock::compiler::run(options);
}
