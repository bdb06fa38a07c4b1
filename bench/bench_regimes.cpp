// Tunes thirty programs in each regime, and compares what is chosen with the default side by side, as a user would find
// it: warm, cold, and with a reader behind each launch.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/argument_sets.h"
#include "bench/report.h"
#include "session/compile/context.h"
#include "support/cpu_cache.h"
#include "support/file.h"
#include "support/paired_benchmark.h"
#include "support/stopwatch.h"

namespace padlock::bench {
namespace {

constexpr double kSlower = 1.03;  // of the default's time: a choice that takes longer has missed

struct Arguments {
  double budget_s = 3;
  int threads = 0;
  std::string only;
  std::string regimes = "warm,cold";
  std::string json;
  std::string commit;
  TimingOptions pairs{.rounds = 31, .least_rounds = 7, .budget_ms = 1500, .warm_up_ms = 5, .sample_ms = 1};
};

/// A kind of program. Its result has A rows of B elements, and of B `columns` are what a kind is measured at.
struct Kind {
  const char* name;
  const char* text;
  std::int64_t element;  ///< bytes of the result's elements
  std::int64_t columns;
};
constexpr Kind kKinds[] = {
    {"pad", "program p(x: f32[A, B]) { y = pad(x, low = [0, 3], high = [0, 5]) return y }", 4, 1000},
    {"pad of bytes", "program p(x: i8[A, B]) { y = pad(x, low = [0, 3], high = [0, 2]) return y }", 1, 2000},
    {"reflect",
     "program p(x: f32[A, B]) where B >= 8 { y = pad(x, low = [0, 3], high = [0, 5], mode = reflect) return y }", 4,
     500},
    {"edge and relu",
     "program p(x: f16[A, B]) where B >= 1 { y = pad(x, low = [0, 1], high = [0, 1], mode = edge) z = relu(y) "
     "return z }",
     2, 1000},
    {"pad and gelu", "program p(x: bf16[A, B]) { y = pad(x, low = [0, 2], high = [0, 2]) z = gelu(y) return z }", 2,
     1024},
    {"cast", "program p(x: f32[A, B]) { y = cast(x, f16) return y }", 2, 1024},
    {"concat", "program p(x: f32[A, B], w: f32[A, B]) { y = concat(x, w, axis = 1) return y }", 8, 500},
    {"transpose", "program p(x: f32[A, B]) { y = transpose(x, perm = [1, 0]) return y }", 4, 512},
};
constexpr std::int64_t kResults[] = {std::int64_t{16} << 10, std::int64_t{500} << 10, std::int64_t{8} << 20,
                                     std::int64_t{256} << 20};

struct Case {
  std::string name;
  std::string text;
  tuner::Sizes sizes;
};

/// Thirty: each kind at each size of results, but two that take longest.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Kind& kind : kKinds)
    for (const std::int64_t bytes : kResults) {
      const std::string_view name = kind.name;
      const bool long_one = bytes == kResults[3] && (name == "transpose" || name == "pad and gelu");
      if (long_one) continue;
      const std::int64_t rows = std::max<std::int64_t>(bytes / (kind.element * kind.columns), 1);
      const std::string size =
          bytes >= (1 << 20) ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
      list.push_back({fmt::format("{}, {}", name, size), kind.text, {{"A", rows}, {"B", kind.columns}}});
    }
  return list;
}

Result<session::BoundProgram> bound(session::Context& context, const session::Program& program, const Case& item) {
  PADLOCK_TRY(const session::CompiledProgram compiled, context.compile(program));
  ir::BindRequest request{.tensors = {}, .symbols = item.sizes};
  request.tensors.resize(program.ir().tensor_parameters().size());
  return compiled.bind(request);
}

/// Reads all results of a launch once.
std::uint64_t read_results(const session::LaunchArguments& arguments) {
  std::uint64_t sum = 0;
  for (const runtime::UserBuffer& result : arguments.outputs) {
    const auto* const data = static_cast<const std::byte*>(result.data());
    const std::size_t words = static_cast<std::size_t>(result.bytes()) / 8;
    for (std::size_t i = 0; i < words; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + 8 * i, 8);
      sum += word;
    }
  }
  return sum;
}

/// One state in which a launch finds its tensors.
struct State {
  const char* name;
  bool cold, read;
};
constexpr State kStates[] = {
    {"warm", false, false}, {"warm, then read", false, true}, {"cold", true, false}, {"cold, then read", true, true}};

struct Totals {
  int choices = 0, same = 0;
  std::vector<double> ratios;
  std::vector<std::string> missed;
  int late = 0;
};

class Bench {
 public:
  explicit Bench(const Arguments& arguments) : arguments_(arguments) {
    json_ = to_json_line(provenance_of_this_machine(arguments.commit, 1));
  }

  Status run() {
    for (const Case& item : cases())
      for (const char* regime : {"warm", "cold", "both"})
        if (std::string_view(item.name).contains(arguments_.only) &&
            std::string_view(arguments_.regimes).contains(regime))
          PADLOCK_CHECK(run(item, regime));
    return finish();
  }

 private:
  Status run(const Case& item, const std::string& regime) {
    const std::string file =
        std::filesystem::temp_directory_path() / fmt::format("padlock_bench_regimes_{}.db", ::getpid());
    std::filesystem::remove(file);
    PADLOCK_TRY(const session::Program program, session::Program::from_text(item.text));
    session::Context standard({.threads = arguments_.threads, .parallel_for = {}});
    session::Context learning({.threads = arguments_.threads, .parallel_for = {}});
    tuner::StoreOptions store;
    store.mode = tuner::Mode::read_write;
    store.user_file = file;
    PADLOCK_CHECK(learning.use_cache(store));
    session::TuneOptions options;
    options.sizes.opt = item.sizes;
    PADLOCK_TRY(options.sizes.regime, tuner::regime_from_name(regime));
    options.budget_seconds = arguments_.budget_s;
    const Stopwatch watch;
    PADLOCK_TRY(const session::TuneReport report, learning.tune(program, options));
    const double took = watch.seconds();
    const tuner::SearchOutcome& outcome = report.regions.front().outcome;
    PADLOCK_TRY(const session::BoundProgram ours, bound(standard, program, item));
    PADLOCK_TRY(const session::BoundProgram tuned, bound(learning, program, item));
    std::filesystem::remove(file);
    ++totals_.choices;
    totals_.late += took > 1.2 * arguments_.budget_s ? 1 : 0;
    const bool same = ours.compiled().config() == tuned.compiled().config();
    totals_.same += same ? 1 : 0;
    fmt::print("{:<22} {:<5} {:5.1f} s  {}\n", item.name, regime, took,
               same ? "the default: " + outcome.reason : tuned.compiled().config());
    for (const State& state : kStates)
      if (regime == "both" || (regime == "cold") == state.cold)
        PADLOCK_CHECK(compare_in(state, item, ours, tuned, same));
    std::fflush(stdout);
    return {};
  }

  /// Compares the two in turn. The same code needs no clock.
  Status compare_in(const State& state, const Case& item, const session::BoundProgram& ours,
                    const session::BoundProgram& tuned, bool same) {
    if (same) {
      totals_.ratios.push_back(1);
      return {};
    }
    runtime::MemoryBudget memory = runtime::MemoryBudget::of_this_process();
    PADLOCK_TRY(ArgumentSets sets, ArgumentSets::create(ours, {}, state.cold ? bytes_beyond_caches() : 0, memory));
    Status failed;
    const auto launch = [&](const session::BoundProgram& program) {
      return [&] {
        sets.advance();
        const session::LaunchArguments arguments = sets.arguments();
        if (Status done = program.launch(arguments); !done) failed = done;
        if (state.read) sum_ += read_results(arguments);
      };
    };
    const Comparison comparison = compare(fmt::format("{}, {}", item.name, state.name), 0,
                                          {{"default", launch(ours)}, {"tuned", launch(tuned)}}, arguments_.pairs);
    PADLOCK_CHECK(failed);
    const Estimate ratio = comparison.find("tuned")->ratio;
    const Estimate again = comparison.rows.at(1).ratio;
    fmt::print("    {:<16} {:.3f} of the default's time ({:.3f} to {:.3f}; the default again {:.3f})\n", state.name,
               ratio.value, ratio.low, ratio.high, again.value);
    totals_.ratios.push_back(ratio.value);
    if (ratio.value > kSlower)
      totals_.missed.push_back(
          fmt::format("{}, {}: {:.3f} ({:.3f} to {:.3f})", item.name, state.name, ratio.value, ratio.low, ratio.high));
    JsonWriter line = json_line("ratio");
    line.member("what", "tuned").member("case", item.name).member("state", state.name);
    add_estimate(line, "ratio", ratio);  // of the default's speed to that of what was tuned
    line.member("result_bytes", ours.results().front().storage_bytes);
    json_ += take_line(std::move(line));
    return {};
  }

  Status finish() {
    if (totals_.ratios.empty()) return invalid_argument(fmt::format("no case's name has '{}'", arguments_.only));
    double logarithms = 0;
    for (const double ratio : totals_.ratios) logarithms += std::log(ratio);
    fmt::print("{} tunings: {} kept the default; {} took more than a fifth longer than their budget\n", totals_.choices,
               totals_.same, totals_.late);
    fmt::print("tuned against default: {:.3f} of its time in the geometric mean of {} comparisons\n",
               std::exp(logarithms / static_cast<double>(totals_.ratios.size())), totals_.ratios.size());
    fmt::print("slower by more than 3 %: {}\n", totals_.missed.size());
    for (const std::string& missed : totals_.missed) fmt::print("    {}\n", missed);
    if (arguments_.json.empty()) return {};
    PADLOCK_TRY(AtomicFile file, AtomicFile::create(arguments_.json));
    PADLOCK_CHECK(file.write(std::string_view(json_)));
    return file.commit();
  }

  const Arguments& arguments_;
  Totals totals_;
  std::string json_;
  std::uint64_t sum_ = 0;  // of what was read
};

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Tunes thirty programs in each regime, and compares the choices with the defaults.");
  app.add_option("--budget", arguments.budget_s, "seconds of one tuning")->check(CLI::Range(0.1, 600.0));
  app.add_option("--threads", arguments.threads, "of the pool; 0: as many as there are")->check(CLI::Range(0, 1024));
  app.add_option("--regimes", arguments.regimes, "those of warm, cold and both that are tuned for");
  app.add_option("--only", arguments.only, "cases whose name has this in it");
  app.add_option("--rounds", arguments.pairs.rounds, "of a comparison")->check(CLI::Range(3, 10000));
  app.add_option("--json", arguments.json, "a file for the ratios, as bench/table.py reads them");
  app.add_option("--commit", arguments.commit, "that is measured, for the file");
  CLI11_PARSE(app, argc, argv);
  const Status status = Bench(arguments).run();
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_regimes: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
