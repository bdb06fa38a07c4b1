// One suite for every device: the regressions, the language's features and random programs. It compiles and launches
// them as a caller of session/ does, and compares them bit for bit with the reference.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/conformance/random_programs.h"

namespace padlock::conformance {
namespace {

constexpr const char* kUsage =
    "padlock_conformance [--device=host|reference|simt|cuda:N] [--filter=TEXT] [--list] [--seed=S] [--programs=N] "
    "[--first=N]\n"
    "Compares a device with the reference. --filter: only cases whose name holds TEXT. --programs: random programs,\n"
    "beginning with number --first.\n";
constexpr int kSkipped = 77;

struct Options {
  std::string device = device_name_from_environment();
  std::string filter;
  bool list = false;
  std::string seed;  // empty: each part's own
  std::uint64_t programs = 150;
  std::uint64_t first = 0;
};

struct Counts {
  int passed = 0, failed = 0, skipped = 0;
};

bool parse_option(const testing::Option& option, Options& options) {
  std::uint64_t seed = 0;  // passed on as text
  if (option.name() == "--seed") return options.seed = option.value(), option.sets("--seed", seed);
  return option.sets("--device", options.device) || option.sets("--filter", options.filter) ||
         option.sets("--list", options.list) || option.sets("--programs", options.programs) ||
         option.sets("--first", options.first);
}

/// The doctest cases, each run by its number, so that this program counts and not a reporter.
class NamedCases {
 public:
  NamedCases() : names_(list("*")), host_code_(list("host code")) {}

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Looks at code made for the host, and at nothing that runs on another device.
  [[nodiscard]] bool is_of_host(const std::string& name) const { return std::ranges::count(host_code_, name) > 0; }
  /// Returns whether it passes; prints a failure.
  [[nodiscard]] bool passes(std::size_t number) const {
    const std::string first = fmt::format("--first={}", number + 1), last = fmt::format("--last={}", number + 1);
    const std::array arguments = {"", first.c_str(), last.c_str(), "--minimal"};
    doctest::Context context(arguments.size(), arguments.data());
    return context.run() == 0;
  }

 private:
  /// Names of a suite's cases, or of all, in the order in which they run: between doctest's two rules of '='.
  static std::vector<std::string> list(const char* suite) {
    const std::string filter = fmt::format("--test-suite={}", suite);
    const std::array arguments = {"", "--list-test-cases", "--no-colors=true", filter.c_str()};
    doctest::Context context(arguments.size(), arguments.data());
    std::stringstream text;
    context.setCout(&text);
    context.run();
    std::vector<std::string> names;
    int rules = 0;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("=====")) ++rules;
      if (rules == 1 && !line.starts_with("=====")) names.push_back(line);
    }
    return names;
  }

  std::vector<std::string> names_, host_code_;
};

/// One run of the suite on one device.
class Suite {
 public:
  Suite(const Options& options, const DeviceUnderTest& device) : options_(options), device_(device) {}

  Counts run() {
    for (std::size_t i = 0; i < named_.names().size(); ++i) run_named(i);
    differential::install_crash_report();
    const std::uint64_t seed = testing::seed_or(20240731);
    fmt::print("device {}, random programs of seed {}\n", options_.device, seed);
    RandomPrograms random(device_, seed);
    for (std::uint64_t i = options_.first; i < options_.first + options_.programs; ++i) run_random(random, i, seed);
    return counts_;
  }

  void list() const {
    for (const std::string& name : named_.names())
      if (is_wanted(name)) fmt::print("{}\n", name);
    for (std::uint64_t i = options_.first; i < options_.first + options_.programs; ++i)
      if (is_wanted(random_name(i))) fmt::print("{}\n", random_name(i));
  }

 private:
  static std::string random_name(std::uint64_t index) { return fmt::format("random program {}", index); }
  [[nodiscard]] bool is_wanted(const std::string& name) const {
    return name.find(options_.filter) != std::string::npos;
  }

  void run_named(std::size_t number) {
    const std::string& name = named_.names()[number];
    if (!is_wanted(name)) return;
    if (device_.device.kind != runtime::DeviceKind::host && named_.is_of_host(name)) {
      ++counts_.skipped;
      fmt::print("skipped: {}: it looks at code for the host\n", name);
      return;
    }
    count(named_.passes(number), name, "");
  }

  void run_random(RandomPrograms& random, std::uint64_t index, std::uint64_t seed) {
    if (!is_wanted(random_name(index))) return;
    const std::string failure = random.check(index);
    count(failure.empty(), random_name(index),
          fmt::format(
              "{}\nreproduce: padlock_conformance --device={} --seed={} --first={} --programs=1 --filter=random\n",
              failure, options_.device, seed, index));
  }

  void count(bool passed, const std::string& name, const std::string& report) {
    ++(passed ? counts_.passed : counts_.failed);
    if (!passed) fmt::print("FAILED {}\n{}", name, report);
    std::fflush(stdout);
  }

  const Options& options_;
  const DeviceUnderTest& device_;
  NamedCases named_;
  Counts counts_;
};

/// A GPU's own context ends with its last user, and making another takes longer than a case: this is a user for as long
/// as the suite runs.
class DeviceInUse {
 public:
  explicit DeviceInUse(const DeviceUnderTest& device)
      : compiled_(context_.compile(*session::Program::from_text("program p(x: f32[n]) { y = neg(x) return y }"),
                                   device.variants[0].options)) {}

 private:
  session::Context context_;
  Result<session::CompiledProgram> compiled_;
};

int run(const Options& options) {
  // The cases take no arguments: they read these.
  setenv("PADLOCK_DEVICE", options.device.c_str(), 1);
  if (!options.seed.empty()) setenv("PADLOCK_SEED", options.seed.c_str(), 1);
  const auto device = find_device(options.device);
  if (!device && device.error().code == Code::unavailable) {
    fmt::print("skipped: {}\n0 passed, 0 failed, 1 skipped\n", device.error().message);
    return kSkipped;
  }
  if (!device) {
    fmt::print(stderr, "{}\n{}", device.error().message, kUsage);
    return 2;
  }
  const DeviceInUse in_use(*device);
  Suite suite(options, *device);
  if (options.list) return suite.list(), 0;
  const Counts counts = suite.run();
  fmt::print("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace padlock::conformance

int main(int argc, char** argv) {
  padlock::conformance::Options options;
  const auto parse = [&](const padlock::testing::Option& option) {
    return padlock::conformance::parse_option(option, options);
  };
  if (!padlock::testing::read_options(argc, argv, padlock::conformance::kUsage, parse)) return 2;
  return padlock::conformance::run(options);
}
