// Measures whether tuning twice chooses twice the same, how far the choice is from the best there is, and how much
// sooner a second start has its first result.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/argument_sets.h"
#include "session/compile/context.h"
#include "session/compile/tuning_cache.h"
#include "support/cpu_cache.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {
namespace {

struct Arguments {
  int tunings = 10;
  int threads = 0;
  double budget_s = 10;
  std::string only;
  runtime::DeviceId device = {};
  bool by_search = false;  // judge configs by the times of the exhaustive search, not by a race on the host's memory
  TimingOptions pairs = {.rounds = 101, .warm_up_ms = 20, .sample_ms = 2};
};

struct Case {
  const char* name;
  const char* text;
  tuner::Sizes sizes;
};

// Long rows and short, aligned and not, one axis and five, in the caches and beyond them.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"pad 1, 256x256",
       "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) return y }",
       {{"A", 256}, {"B", 256}}},
      {"pad 1, 1024x1024",
       "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) return y }",
       {{"A", 1024}, {"B", 1024}}},
      {"pad 1 and relu, 4096x1000",
       "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) z = relu(y) return z }",
       {{"A", 4096}, {"B", 1000}}},
      {"pad 1, 16384x224",
       "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) return y }",
       {{"A", 16384}, {"B", 224}}},
      {"vocabulary, 4096x1000 to 1024, f16",
       "program p(x: f16[A, B]) { y = pad(x, low = [0, 0], high = [0, 24]) return y }",
       {{"A", 4096}, {"B", 1000}}},
      {"causal left pad, bf16, 8x2048x1000",
       "program p(x: bf16[N, C, T]) { y = pad(x, low = [0, 0, 3], high = [0, 0, 0]) return y }",
       {{"N", 2}, {"C", 2048}, {"T", 1000}}},
      {"mask, i8, 2048x2047 by 1",
       "program p(x: i8[A, B]) { y = pad(x, low = [0, 1], high = [0, 0]) return y }",
       {{"A", 2048}, {"B", 2047}}},
      {"stem, 8x3x224x224 by 3",
       "program p(x: f32[N, C, H, W]) { y = pad(x, low = [0, 0, 3, 3], high = [0, 0, 3, 3]) return y }",
       {{"N", 8}, {"C", 3}, {"H", 224}, {"W", 224}}},
      {"reflect 3, 8x16x128x128",
       "program p(x: f32[N, C, H, W]) where H >= 4, W >= 4 "
       "{ y = pad(x, low = [0, 0, 3, 3], high = [0, 0, 3, 3], mode = reflect) return y }",
       {{"N", 8}, {"C", 16}, {"H", 128}, {"W", 128}}},
      {"video edge 1, 2x8x8x96x96",
       "program p(x: f32[N, C, D, H, W]) where D >= 1, H >= 1, W >= 1 "
       "{ y = pad(x, low = [0, 0, 1, 1, 1], high = [0, 0, 1, 1, 1], mode = edge) return y }",
       {{"N", 2}, {"C", 8}, {"D", 8}, {"H", 96}, {"W", 96}}},
      {"crop and pad, 2048x2048",
       "program p(x: f32[A, B]) { y = pad(x, low = [-3, 5], high = [4, -6]) z = relu(y) return z }",
       {{"A", 2048}, {"B", 2048}}},
      {"concat, 2048x512 twice",
       "program p(x: f32[A, B], w: f32[A, C]) { y = concat(x, w, axis = 1) z = relu(y) return z }",
       {{"A", 2048}, {"B", 511}, {"C", 513}}},
  };
  return kCases;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Arrays of one binding; one set, or so many that no cache holds them and that they lie in many places, so that a
/// config is timed as the tuner times it.
Result<ArgumentSets> arrays_of(const session::BoundProgram& bound, bool rotate = false) {
  runtime::MemoryBudget memory = runtime::MemoryBudget::of_this_process();
  return ArgumentSets::create(bound, {}, rotate ? 4 * bytes_beyond_caches() : 0, memory);
}

Result<session::BoundProgram> bound(session::Context& context, const session::Program& program, const Case& item,
                                    runtime::DeviceId device, const std::string& config = "") {
  PADLOCK_TRY(const session::CompiledProgram compiled, context.compile(program, {.device = device, .config = config}));
  return compiled.bind(
      {.tensors = std::vector<std::optional<ir::ArgumentShape>>(compiled.program().ir().tensor_parameters().size()),
       .symbols = item.sizes});
}

/// Takes a context to its first result; on a GPU, whose memory is not ours, until it could be launched.
Status reach_first_result(session::Context& context, const session::Program& program, const Case& item,
                          runtime::DeviceId device) {
  PADLOCK_TRY(const session::BoundProgram first, bound(context, program, item, device));
  if (device.kind != runtime::DeviceKind::host) return {};
  PADLOCK_TRY(const ArgumentSets arrays, arrays_of(first));
  return first.launch(arrays.arguments());
}

struct Tuned {
  std::string config;
  double seconds = 0;
  std::size_t measured = 0;  // configs
};

/// A tuning that knows nothing yet, up to its first result.
Result<Tuned> tune(const session::Program& program, const Case& item, const Arguments& arguments,
                   tuner::Strategy strategy, const std::string& file,
                   std::vector<session::TunedRegion>* regions = nullptr) {
  std::filesystem::remove(file);
  const auto begin = Clock::now();
  session::Context context({.threads = arguments.threads, .parallel_for = {}});
  tuner::StoreOptions store;
  store.mode = tuner::Mode::read_write;
  store.user_file = file;
  PADLOCK_CHECK(context.use_cache(store));
  session::TuneOptions options;
  options.device = arguments.device;
  options.strategy = strategy;
  options.budget_seconds = strategy == tuner::Strategy::full ? 600 : arguments.budget_s;
  for (const auto& [name, value] : item.sizes) options.sizes.opt[name] = value;
  PADLOCK_TRY(session::TuneReport report, context.tune(program, options));
  if (report.chosen() != 1) return internal_error(fmt::format("{}: nothing was chosen", item.name));
  const std::string config = *report.regions.front().outcome.config;
  PADLOCK_CHECK(reach_first_result(context, program, item, arguments.device));
  const std::size_t measured = report.regions.front().outcome.measurements.size();
  if (regions != nullptr) *regions = std::move(report.regions);
  return Tuned{config, seconds_since(begin), measured};
}

/// The same program again, with what the cache knows.
Result<double> second_start(const session::Program& program, const Case& item, const Arguments& arguments,
                            const std::string& file) {
  const auto begin = Clock::now();
  session::Context context({.threads = arguments.threads, .parallel_for = {}});
  tuner::StoreOptions store;
  store.mode = tuner::Mode::require;
  store.user_file = file;
  PADLOCK_CHECK(context.use_cache(store));
  PADLOCK_CHECK(reach_first_result(context, program, item, arguments.device));
  if (context.trial_count() != 0) return internal_error("a second start measured");
  return seconds_since(begin);
}

/// Median times of configs, side by side.
Result<std::map<std::string, double>> race(const session::Program& program, const Case& item,
                                           const Arguments& arguments, const std::set<std::string>& configs) {
  session::Context context({.threads = arguments.threads, .parallel_for = {}});
  std::vector<session::BoundProgram> programs;
  for (const std::string& config : configs) {
    PADLOCK_TRY(session::BoundProgram made, bound(context, program, item, arguments.device, config));
    programs.push_back(std::move(made));
  }
  PADLOCK_TRY(ArgumentSets arrays, arrays_of(programs.front(), true));
  Status failed;
  std::vector<Contestant> contestants;
  std::size_t index = 0;
  for (const std::string& config : configs) {
    contestants.push_back({config, [&, made = programs[index++]] {
                             arrays.advance();
                             if (Status done = made.launch(arrays.arguments()); !done) failed = done;
                           }});
  }
  const Comparison comparison = compare(item.name, 0, contestants, arguments.pairs);
  PADLOCK_CHECK(failed);
  std::map<std::string, double> times;
  for (const TimedRow& row : comparison.rows)
    if (configs.contains(row.name)) times.emplace(row.name, row.ratio.value);
  return times;
}

/// Times of configs, in any unit: of all as an exhaustive search saw them, or of those chosen and of the fastest few of
/// that search, side by side.
Result<std::map<std::string, double>> times_of(const session::Program& program, const Case& item,
                                               const Arguments& arguments, const std::vector<std::string>& chosen,
                                               const std::string& file) {
  constexpr std::size_t kBest = 6;
  std::vector<session::TunedRegion> regions;
  PADLOCK_TRY(const Tuned full, tune(program, item, arguments, tuner::Strategy::full, file, &regions));
  std::vector<tuner::Measurement> all = regions.front().outcome.measurements;
  std::erase_if(all, [](const tuner::Measurement& m) { return m.median_ps == 0; });
  std::ranges::sort(all, {}, &tuner::Measurement::median_ps);
  if (arguments.by_search) {
    std::map<std::string, double> times;
    for (const tuner::Measurement& measured : all) times.emplace(measured.config, measured.median_ps);
    return times;
  }
  std::set<std::string> configs(chosen.begin(), chosen.end());
  configs.insert(full.config);
  for (std::size_t i = 0; i < std::min(kBest, all.size()); ++i) configs.insert(all[i].config);
  return race(program, item, arguments, configs);
}

struct Totals {
  int pairs = 0, same = 0, near = 0;
  std::vector<double> regrets;
  std::vector<double> sooner;
};

Status run(const Case& item, const Arguments& arguments, const std::string& file, Totals& totals) {
  PADLOCK_TRY(const session::Program program, session::Program::from_text(item.text));
  std::vector<std::string> chosen;
  double seconds = 0, again = 0;
  std::vector<std::size_t> measured;
  for (int i = 0; i < arguments.tunings; ++i) {
    PADLOCK_TRY(const Tuned tuned, tune(program, item, arguments, tuner::Strategy::fast, file));
    chosen.push_back(tuned.config);
    measured.push_back(tuned.measured);
    seconds = tuned.seconds;
    PADLOCK_TRY(again, second_start(program, item, arguments, file));
    totals.sooner.push_back(seconds / again);
  }
  PADLOCK_TRY(const auto times, times_of(program, item, arguments, chosen, file));
  for (const std::string& config : chosen)
    if (!times.contains(config)) return internal_error(fmt::format("{}: no time of {}", item.name, config));
  const double best = std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; })->second;
  int same = 0, near = 0, pairs = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    totals.regrets.push_back(times.at(chosen[i]) / best - 1);
    for (std::size_t j = 0; j < i; ++j, ++pairs) {
      const double a = times.at(chosen[i]), b = times.at(chosen[j]);
      same += chosen[i] == chosen[j] ? 1 : 0;
      near += std::max(a, b) <= 1.03 * std::min(a, b) ? 1 : 0;
    }
  }
  totals.pairs += pairs;
  totals.same += same;
  totals.near += near;
  std::vector<double> regrets(totals.regrets.end() - std::ssize(chosen), totals.regrets.end());
  fmt::print(
      "{:<36} pairs {}: same {}, within 3 % {}; regret median {:.1f} %, most {:.1f} %; {} to {} configs in {:.1f} s, "
      "then {:.0f} ms\n",
      item.name, pairs, same, near, 100 * median(regrets), 100 * std::ranges::max(regrets), std::ranges::min(measured),
      std::ranges::max(measured), seconds, 1000 * again);
  const auto& fastest = *std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; });
  fmt::print("    best {}\n", fastest.first);
  for (const std::string& config : std::set<std::string>(chosen.begin(), chosen.end()))
    fmt::print("    {:2} x {} ({:.3f} of the best)\n", std::ranges::count(chosen, config), config,
               times.at(config) / best);
  std::fflush(stdout);
  return {};
}

Status run_all(const Arguments& arguments) {
  const std::string file =
      std::filesystem::temp_directory_path() / fmt::format("padlock_bench_stability_{}.db", ::getpid());
  Totals totals;
  for (const Case& item : cases())
    if (std::string_view(item.name).contains(arguments.only)) PADLOCK_CHECK(run(item, arguments, file, totals));
  std::filesystem::remove(file);
  if (totals.pairs == 0) return invalid_argument(fmt::format("no case's name has '{}'", arguments.only));
  std::ranges::sort(totals.regrets);
  std::ranges::sort(totals.sooner);
  fmt::print("{} pairs: same config {:.1f} %, within 3 % side by side {:.1f} %\n", totals.pairs,
             100.0 * totals.same / totals.pairs, 100.0 * totals.near / totals.pairs);
  fmt::print("regret against exhaustive search: 90th percentile {:.1f} %, most {:.1f} %\n",
             100 * totals.regrets[totals.regrets.size() * 9 / 10], 100 * totals.regrets.back());
  fmt::print("first result of a second start: {:.0f} times sooner at least, median {:.0f}\n", totals.sooner.front(),
             median(totals.sooner));
  return {};
}

Status run_on(std::string_view device, Arguments arguments) {
  PADLOCK_TRY(arguments.device, runtime::DeviceId::parse(device));
  if (arguments.device.kind != runtime::DeviceKind::host) arguments.by_search = true;
  return run_all(arguments);
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Tunes each of twelve programs again and again, and compares the choices side by side.");
  app.add_option("--tunings", arguments.tunings, "of each program")->check(CLI::Range(2, 1000));
  app.add_option("--threads", arguments.threads, "of the pool; 0: as many as there are")->check(CLI::Range(0, 1024));
  app.add_option("--budget", arguments.budget_s, "seconds of one tuning")->check(CLI::Range(0.1, 600.0));
  std::string device = "host";
  app.add_option("--device", device, "host or cuda:N, where configs are judged by the search");
  app.add_flag("--by-search", arguments.by_search,
               "judge configs by the times of the exhaustive search, not by a race");
  app.add_option("--only", arguments.only, "cases whose name has this in it");
  CLI11_PARSE(app, argc, argv);
  const Status status = run_on(device, std::move(arguments));
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_stability: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
