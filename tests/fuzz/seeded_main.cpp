// The seeded engine: the same bodies as libFuzzer's, in every build and on every compiler.
#include <fmt/format.h>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/watch.h"

namespace padlock::fuzz {
namespace {

constexpr const char* kUsage =
    "options: [--seed=S] [--first=N] [--inputs=N] [--seconds=T] [--replay=FILE] [--write=FOLDER]\n";

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t inputs = 5000;
  double seconds = 0;
  std::string replay;
  std::string write;
};

bool parse_option(const testing::Option& option, Options& options) {
  return option.sets("--seed", options.seed) || option.sets("--first", options.first) ||
         option.sets("--inputs", options.inputs) || option.sets("--seconds", options.seconds) ||
         option.sets("--replay", options.replay) || option.sets("--write", options.write);
}

int replay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  run_watched({std::istreambuf_iterator<char>(file), {}}, "--replay=" + path);
  fmt::print("{}: nothing found\n", path);
  return 0;
}

std::string input_at(const Options& options, std::uint64_t index) {
  testing::Rng rng = testing::Rng(options.seed).fork(index);
  return make_input(rng);
}

/// What another engine begins from: without it, libFuzzer would have to find the language byte by byte.
int write_inputs(const Options& options) {
  for (std::uint64_t index = options.first; index < options.first + options.inputs; ++index) {
    std::ofstream file(fmt::format("{}/{:06}", options.write, index), std::ios::binary);
    file << input_at(options, index) << std::flush;
    if (file) continue;
    fmt::print(stderr, "{}: expected a folder to write to\n", options.write);
    return 1;
  }
  return 0;
}

int run(const Options& options) {
  fmt::print("seed {}\n", options.seed);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t done = 0;
  for (; options.seconds > 0 ? elapsed() < options.seconds : done < options.inputs; ++done) {
    const std::uint64_t index = options.first + done;
    run_watched(input_at(options, index), fmt::format("--seed={} --first={} --inputs=1", options.seed, index));
  }
  fmt::print("{} inputs, {:.1f} s, seed {}: nothing found\n", done, elapsed(), options.seed);
  return 0;
}

}  // namespace
}  // namespace padlock::fuzz

int main(int argc, char** argv) {
  using namespace padlock;
  fuzz::Options options;
  options.seed = testing::seed_or(1);
  const auto parse = [&](const testing::Option& option) { return fuzz::parse_option(option, options); };
  if (!testing::read_options(argc, argv, fuzz::kUsage, parse)) return 2;
  if (testing::is_full_run()) options.inputs *= 10;
  fuzz::watch_memory();
  differential::install_crash_report();
  if (!options.write.empty()) return fuzz::write_inputs(options);
  return options.replay.empty() ? fuzz::run(options) : fuzz::replay(options.replay);
}
