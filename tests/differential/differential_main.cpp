// Random programs and sizes: host kernels against the interpreter.
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/prover/kernel_prover.h"
#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/compiler/seeded/seeded_bugs.h"
#include "tests/differential/differential_run.h"

namespace padlock::differential {
namespace {

constexpr const char* kUsage =
    "padlock_differential [--programs=N] [--sizes=N] [--seed=S] [--first=N] [--seconds=T]\n"
    "                     [--config=default|random|all] [--bounds-check] [--full] [--list-coverage]\n"
    "                     [--mutation=NAME | --mutations]\n"
    "--full (or PADLOCK_FULL=1): 20000 programs and sizes, everything met at least 100 times.\n"
    "--mutations: every seeded bug that the host has must be found, by values or by a refutation as its judge is.\n";

constexpr std::uint64_t kPrograms = 600;
// A seeded bug may show in one program of a thousand. Easier bugs cost no more, since the hunt ends when a bug is
// found.
constexpr std::uint64_t kMutationPrograms = 4000;
constexpr std::uint64_t kFullPrograms = 4400;
constexpr std::uint64_t kFullRuns = 20000;
constexpr std::uint64_t kFullOccurrences = 100;
// Of a seeded bug: letters of a program that is proved (longer ones take longer and show no more), and how many bugs
// the comparison of values must find.
constexpr std::size_t kLongestToProve = 700;
constexpr int kLeastByValues = 10;

struct Options {
  RunSettings settings;
  std::uint64_t first = 0;
  std::uint64_t programs = 0;  // 0: as many as the kind of run has
  double seconds = 0;          // 0: no limit
  bool full = false;
  bool list_coverage = false;
  bool all_mutations = false;
};

bool parse_config(std::string_view text, ConfigChoice& choice) {
  if (text == "default")
    choice = ConfigChoice::defaults;
  else if (text == "random")
    choice = ConfigChoice::random;
  else if (text == "all")
    choice = ConfigChoice::all;
  else
    return false;
  return true;
}

bool parse_mutation(std::string_view text, compiler::Mutation& mutation) {
  for (const compiler::Mutation m : compiler::kMutations)
    if (compiler::name_of(m) == text) return mutation = m, true;
  return false;
}

bool parse_option(const testing::Option& option, Options& options) {
  RunSettings& settings = options.settings;
  if (option.sets("--seconds", options.seconds)) return options.programs = ~std::uint64_t{0}, true;
  if (option.name() == "--mutation") return parse_mutation(option.value(), settings.mutation);
  if (option.name() == "--config") return parse_config(option.value(), settings.configs);
  return option.sets("--programs", options.programs) || option.sets("--sizes", settings.sizes) ||
         option.sets("--seed", settings.seed) || option.sets("--first", options.first) ||
         option.sets("--bounds-check", settings.bounds_check) || option.sets("--full", options.full) ||
         option.sets("--list-coverage", options.list_coverage) || option.sets("--mutations", options.all_mutations);
}

void print_finding(const Finding& f, std::uint64_t seed) {
  fmt::print(
      "\nFAILED program {}\n{}with {}\nbinding {}\noptions {}\nreproduce: padlock_differential --seed={} "
      "--first={} --programs=1\n",
      f.index, f.text, f.message, f.binding, f.options, seed, f.index);
}

int judge_full(const Coverage& coverage) {
  const auto [least, name] = coverage.rarest();
  fmt::print("rarest: {} ({} times)\n", name, least);
  if (coverage.runs() >= kFullRuns && least >= kFullOccurrences) return 0;
  fmt::print("FAILED: a full run needs {} programs and sizes, and {} of everything\n", kFullRuns, kFullOccurrences);
  return 1;
}

int run_programs(const Options& options) {
  auto run = DifferentialRun::create(options.settings);
  if (!run) {
    fmt::print("no host compiler: {}\n", run.error().to_string());
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t done = 0;
  double reported = 0;
  for (; done < options.programs && (options.seconds == 0 || elapsed() < options.seconds); ++done) {
    if (elapsed() > reported + 10) {
      reported = elapsed();
      fmt::print(stderr, "{} programs, {} programs and sizes, {:.0f} s\n", done, (*run)->coverage().runs(), reported);
    }
    if (const auto finding = (*run)->check_program(options.first + done)) {
      print_finding(*finding, options.settings.seed);
      return 1;
    }
  }
  const Coverage& coverage = (*run)->coverage();
  coverage.print(options.list_coverage);
  fmt::print("{} programs, {} programs and sizes, {:.1f} s, seed {}\n", done, coverage.runs(), elapsed(),
             options.settings.seed);
  return options.full ? judge_full(coverage) : 0;
}

/// What found a seeded bug. Also the exit status of the process that looked for it.
enum class FoundBy : std::uint8_t { nothing = 0, values = 11, refutation = 12 };

/// Returns whether the seeded bug may show in a program. Proving and executing unchanged programs would be most of a
/// hunt's cost, and finds nothing.
bool may_show(const std::string& text, compiler::Mutation mutation) {
  if (mutation == compiler::Mutation::none || !compiler::is_printed(mutation)) return true;
  const Result<ir::Program> program = ir::parse_program(text);
  if (!program) return true;
  const auto scheduled = [&](const compiler::PassEdits* edits) {
    return compiler::schedule_text(*program, edits, [&](compiler::Kernel kernel) {
      return std::vector{compiler::schedule_for_host(std::move(kernel), compiler::HostConfig{}, edits)};
    });
  };
  const auto right = scheduled(nullptr);
  const auto wrong = scheduled(compiler::edits_of(mutation));
  return !right || !wrong || *right != *wrong;
}

/// Executes programs with the seeded bug until one of them goes wrong or does not compile.
FoundBy find_by_running(const Options& options) {
  auto run = DifferentialRun::create(options.settings);
  if (!run) return FoundBy::nothing;
  const RunSettings& settings = options.settings;
  for (std::uint64_t i = options.first; i < options.first + options.programs; ++i) {
    if (!may_show(random_program(settings.seed, i).text(), settings.mutation)) continue;
    if (const auto finding = (*run)->check_program(i))
      return finding->message.find("is refuted") == std::string::npos ? FoundBy::values : FoundBy::refutation;
  }
  return FoundBy::nothing;
}

/// Proves programs with the seeded bug until one is refuted, which must be why it does not compile.
FoundBy find_by_proving(const Options& options) {
  const compiler::PassEdits* edits = compiler::edits_of(options.settings.mutation);
  const auto host = compiler::TargetCompiler::create("host");
  if (!host) return FoundBy::nothing;
  compiler::ProofCache lemmas;
  for (std::uint64_t i = 0; i < options.programs; ++i) {
    const std::string text = random_program(options.settings.seed, options.first + i).text();
    const Result<ir::Program> program = ir::parse_program(text);
    if (!program || text.size() > kLongestToProve || !may_show(text, options.settings.mutation)) continue;
    Result<std::vector<compiler::Kernel>> kernels = compiler::lower(*program, edits);
    if (!kernels) continue;
    const compiler::HostConfig config = std::get<compiler::HostConfig>((*host)->default_config());
    const bool refuted = std::ranges::any_of(*kernels, [&](compiler::Kernel& kernel) {
      return !compiler::prove(compiler::schedule_for_host(std::move(kernel), config, edits),
                              {.cache = &lemmas, .keep = false});
    });
    if (!refuted) continue;
    const auto compiled = (*host)->compile(*program, {.config = config, .bounds_check = false, .edits = edits});
    if (!compiled && compiled.error().to_string().find("is refuted") != std::string::npos) return FoundBy::refutation;
  }
  return FoundBy::nothing;
}

/// Looks for seeded bugs in processes of their own, for they may touch guard pages (a finding by values), and as many
/// at once as there are processors.
class MutationHunt {
 public:
  explicit MutationHunt(const Options& options) : options_(options) {}

  std::vector<FoundBy> find(const std::vector<compiler::Mutation>& mutations) {
    std::vector<FoundBy> found(mutations.size(), FoundBy::nothing);
    std::map<pid_t, std::size_t> running;
    const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < mutations.size() || !running.empty();) {
      if (i < mutations.size() && running.size() < at_once) {
        running.emplace(start(mutations[i]), i);
        ++i;
        continue;
      }
      int status = 0;
      const auto ended = running.find(wait(&status));
      if (ended == running.end()) continue;
      found[ended->second] = WIFEXITED(status) ? static_cast<FoundBy>(WEXITSTATUS(status)) : FoundBy::values;
      running.erase(ended);
    }
    return found;
  }

 private:
  pid_t start(compiler::Mutation mutation) {
    options_.settings.mutation = mutation;
    const pid_t child = fork();
    if (child != 0) return child;
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
      _exit(0);
    const bool proves = compiler::judge_of(mutation) == compiler::Judge::proof;
    _exit(static_cast<int>(proves ? find_by_proving(options_) : find_by_running(options_)));
  }

  Options options_;
};

int run_mutations(const Options& options) {
  Options sound = options;
  sound.programs = std::min<std::uint64_t>(options.programs, 100);
  if (MutationHunt(sound).find({compiler::Mutation::none}).front() != FoundBy::nothing) {
    fmt::print("seed {}: without a seeded bug something is found too, so finding one says nothing\n",
               options.settings.seed);
    return 1;
  }
  std::vector<compiler::Mutation> mutations;
  for (const compiler::Mutation m : compiler::kMutations)
    if (m != compiler::Mutation::none && compiler::is_of_any_target(m)) mutations.push_back(m);
  const std::vector<FoundBy> hunted = MutationHunt(options).find(mutations);
  int missed = 0;
  std::map<FoundBy, int> found;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const bool by_values = hunted[i] == FoundBy::values;
    const bool enough =
        hunted[i] == FoundBy::refutation || (by_values && compiler::judge_of(mutations[i]) == compiler::Judge::values);
    missed += enough ? 0 : 1;
    ++found[hunted[i]];
    fmt::print("{:28} {}\n", compiler::name_of(mutations[i]),
               !enough     ? "MISSED"
               : by_values ? "found by values"
                           : "refuted");
  }
  fmt::print("seed {}: {} refuted, {} found by values, {} missed\n", options.settings.seed, found[FoundBy::refutation],
             found[FoundBy::values], missed);
  if (mutations.size() != compiler::kByValues + compiler::kByProof) return 1;
  // With fewer, this would not test the comparison of values.
  return missed == 0 && found[FoundBy::values] >= kLeastByValues ? 0 : 1;
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  options.settings.seed = padlock::testing::seed_or(20240731);
  options.full = padlock::testing::is_full_run();
  const auto parse = [&](const padlock::testing::Option& option) { return parse_option(option, options); };
  if (!padlock::testing::read_options(argc, argv, kUsage, parse)) return 2;
  if (options.programs == 0) options.programs = options.all_mutations ? kMutationPrograms : kPrograms;
  if (options.all_mutations) return run_mutations(options);
  if (options.full) options.programs = std::max(options.programs, kFullPrograms);
  fmt::print("seed {}\n", options.settings.seed);
  install_crash_report();
  return run_programs(options);
}
