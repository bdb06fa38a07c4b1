// Measures what trying configs costs: starting and replacing a worker, and where the time of tuning one problem goes.

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "support/statistics.h"
#include "tuner/worker/worker.h"

namespace padlock::bench {
namespace {

struct Arguments {
  std::string worker;
  std::string device = "host";
  std::string target = "host";  // whose configs are tried
  int rounds = 21;
  int configs = 32;
  std::int64_t mib = 16;  // read and written together
  double budget_ms = 60;
};

double milliseconds_since(tuner::Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(tuner::Clock::now() - begin).count();
}

void print(const std::string& what, std::vector<double> samples) {
  std::ranges::sort(samples);
  fmt::print("{:<58} median {:8.1f} ms, most {:8.1f} ms\n", what, median(samples), samples.back());
}

/// Rows as long as there are: half of the bytes are read and half are written.
tuner::TryRequest request_for(const std::string& config, const Arguments& arguments) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(arguments.mib << 20) / 8));
  return {.program = "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) z = relu(y) return z }",
          .device = arguments.device,
          .target = {},
          .config = config,
          .symbols = {{"A", side}, {"B", side}},
          .threads = 0,
          .time_limit_ms = 60'000,
          .policy = {.budget_ms = arguments.budget_ms}};
}

Status restarts(const std::string& file, const Arguments& arguments) {
  std::vector<double> started;
  std::vector<double> replaced;
  tuner::TryRequest refused;  // an empty program: the answer is immediate
  for (int i = 0; i < arguments.rounds; ++i) {
    auto begin = tuner::Clock::now();
    PADLOCK_TRY(tuner::Worker worker, tuner::Worker::start({.command = {file}}));
    started.push_back(milliseconds_since(begin));
    ::kill(worker.pid(), SIGKILL);
    begin = tuner::Clock::now();
    PADLOCK_TRY(const tuner::TryResult result, worker.try_config(refused));
    if (result.verdict != tuner::Verdict::compile) return internal_error("expected a verdict, found " + result.message);
    replaced.push_back(milliseconds_since(begin));
  }
  print("a worker starts", started);
  print("a killed worker is replaced and has answered", replaced);
  return {};
}

Status tune(const std::string& file, const Arguments& arguments) {
  PADLOCK_TRY(const auto compiler, compiler::TargetCompiler::create(arguments.target));
  std::vector<compiler::Config> configs = compiler->all_configs();
  configs.resize(std::min<std::size_t>(configs.size(), static_cast<std::size_t>(arguments.configs)));
  PADLOCK_TRY(tuner::Worker worker, tuner::Worker::start({.command = {file}}));
  double compiling = 0;
  double verifying = 0;
  double timing = 0;
  const auto begin = tuner::Clock::now();
  double first = 0;
  std::vector<double> beyond;  // of each trial but the first, compiling and timing
  std::vector<std::string> next;
  for (const compiler::Config& point : configs) next.push_back(compiler::to_string(point));
  for (const compiler::Config& point : configs) {
    const std::string config = compiler::to_string(point);
    const auto begun = tuner::Clock::now();
    tuner::TryRequest request = request_for(config, arguments);
    request.next = next;
    PADLOCK_TRY(const tuner::TryResult result, worker.try_config(request));
    if (result.verdict != tuner::Verdict::ok) return internal_error(config + ": " + result.message);
    compiling += result.compile_ms;
    verifying += result.verify_ms;
    timing += result.timing_ms;
    if (first == 0)
      first = milliseconds_since(begin);
    else
      beyond.push_back(milliseconds_since(begun) - result.compile_ms - result.timing_ms);
  }
  const double all = milliseconds_since(begin);
  fmt::print("{} configs of one {} MiB problem: {:.0f} ms, the first {:.0f} ms\n", configs.size(), arguments.mib, all,
             first);
  fmt::print(
      "  compiling {:.0f} ms, checks {:.0f} ms ({:.1f} %), timing {:.0f} ms, inputs, reference and first runs {:.0f} "
      "ms\n",
      compiling, verifying, 100 * verifying / all, timing, all - compiling - verifying - timing);
  if (!beyond.empty()) print("a config beyond compiling and timing", beyond);
  return {};
}

Status run(const Arguments& arguments) {
  PADLOCK_TRY(const std::string file, tuner::find_worker(arguments.worker));
  PADLOCK_CHECK(restarts(file, arguments));
  return tune(file, arguments);
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Times what trying configs costs.");
  app.add_option("--worker", arguments.worker, "the worker to start");
  app.add_option("--device", arguments.device, "where configs are tried: host, simt, cuda:0");
  app.add_option("--target", arguments.target, "whose configs: of a GPU its architecture, as sm_90");
  app.add_option("--rounds", arguments.rounds, "starts")->check(CLI::Range(1, 10000));
  app.add_option("--configs", arguments.configs, "configs to try")->check(CLI::Range(1, 10000));
  app.add_option("--mib", arguments.mib, "read and written together")->check(CLI::Range(1, 1 << 14));
  app.add_option("--budget-ms", arguments.budget_ms, "of timing one config")->check(CLI::Range(0.0, 1e6));
  CLI11_PARSE(app, argc, argv);
  const Status status = run(arguments);
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_tuner: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
