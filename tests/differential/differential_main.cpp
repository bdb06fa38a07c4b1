// Random programs and sizes: host kernels against the interpreter.
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/differential/crash_report.h"
#include "tests/differential/differential_run.h"
#include "tests/differential/seed.h"

namespace padlock::differential {
namespace {

constexpr const char* kUsage =
    "padlock_differential [--programs=N] [--sizes=N] [--seed=S] [--first=N] [--seconds=T]\n"
    "                     [--config=default|random|all] [--bounds-check] [--full] [--list-coverage]\n"
    "                     [--mutation=NAME | --mutations]\n"
    "--full (or PADLOCK_FULL=1): 20000 programs and sizes, everything met at least 100 times.\n"
    "--mutations: every seeded bug of the compiler must be found.\n";

constexpr std::uint64_t kFullPrograms = 4400;
constexpr std::uint64_t kFullRuns = 20000;
constexpr std::uint64_t kFullOccurrences = 100;

struct Options {
  RunSettings settings;
  std::uint64_t first = 0;
  std::uint64_t programs = 600;
  double seconds = 0;  // 0: no limit
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

bool parse_option(std::string_view argument, Options& options) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
  const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 0); };
  if (name == "--programs") return options.programs = number(), true;
  if (name == "--sizes") return options.settings.sizes = static_cast<int>(number()), true;
  if (name == "--seed") return options.settings.seed = number(), true;
  if (name == "--first") return options.first = number(), true;
  if (name == "--seconds") {
    options.programs = ~std::uint64_t{0};
    return options.seconds = std::strtod(value.c_str(), nullptr), true;
  }
  if (name == "--bounds-check") return options.settings.bounds_check = true, true;
  if (name == "--full") return options.full = true;
  if (name == "--list-coverage") return options.list_coverage = true;
  if (name == "--mutations") return options.all_mutations = true;
  if (name == "--mutation") return parse_mutation(value, options.settings.mutation);
  return name == "--config" && parse_config(value, options.settings.configs);
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

/// Runs the seeded bug in a process of its own, for it may touch guard pages. True where it was found.
bool finds_mutation(Options options, compiler::Mutation mutation) {
  options.settings.mutation = mutation;
  options.full = false;
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
      _exit(0);
    _exit(run_programs(options));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int run_mutations(const Options& options) {
  Options sound = options;
  sound.programs = std::min<std::uint64_t>(options.programs, 100);
  if (finds_mutation(sound, compiler::Mutation::none)) {
    fmt::print("seed {}: without a seeded bug something is found too, so finding one says nothing\n",
               options.settings.seed);
    return 1;
  }
  int missed = 0;
  for (const compiler::Mutation m : compiler::kMutations) {
    if (m == compiler::Mutation::none) continue;
    const bool found = finds_mutation(options, m);
    missed += found ? 0 : 1;
    fmt::print("{:28} {}\n", compiler::name_of(m), found ? "found" : "MISSED");
    std::fflush(stdout);
  }
  fmt::print("seed {}: {} seeded bugs, {} missed\n", options.settings.seed, compiler::kMutations.size() - 1, missed);
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  options.settings.seed = seed_from_environment(20240731);
  const char* full = std::getenv("PADLOCK_FULL");
  options.full = full != nullptr && std::string_view(full) == "1";
  for (int i = 1; i < argc; ++i) {
    if (parse_option(argv[i], options)) continue;
    fmt::print(stderr, "unknown argument {}\n{}", argv[i], kUsage);
    return 2;
  }
  if (options.all_mutations) return run_mutations(options);
  if (options.full) options.programs = std::max(options.programs, kFullPrograms);
  fmt::print("seed {}\n", options.settings.seed);
  install_crash_report();
  return run_programs(options);
}
