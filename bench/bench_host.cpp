// Times Padlock on this machine's CPU: the pads of cases.txt beside memcpy, beside themselves in other forms and beside
// what one would use instead; and what a call, compiling and the tuning cache cost.

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/case_run.h"
#include "bench/short_rows.h"
#include "bench/times/cache_times.h"
#include "bench/times/capi_times.h"
#include "bench/times/compile_times.h"
#include "bench/times/memory_use.h"
#include "session/compile/tuning_cache.h"
#include "support/cpu_cache.h"
#include "support/file.h"

namespace padlock::bench {
namespace {

struct Arguments {
  std::string folder;  // of cases.txt and host_peers.py
  std::string python;  // empty: no peers
  std::string only;
  std::string cache;
  std::string json;
  std::string commit;
  std::string command;
  std::string target = "host";
  std::uint64_t seed = 1;
  double seconds = 0;
  double tune_seconds = 0;
  bool quick = false;
  bool short_rows = false;
  bool first_compile = false;
  bool memory = false;
};

std::string folder_of_this() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return self.substr(0, self.rfind('/'));
}

/// A folder that goes with what is in it, in memory where the system has such a place.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool has_memory = access("/dev/shm", W_OK) == 0;
    path_ = has_memory ? "/dev/shm/padlock_bench_XXXXXX" : "/tmp/padlock_bench_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Returns the effort that a case may take of `seconds`. Compiling, checking and other libraries' compilers take the
/// rest; what is far beyond the caches takes more.
Effort effort_of(const Arguments& arguments, double seconds) {
  const bool quick = arguments.quick;
  const double ms = 1000 * std::max(seconds, 0.0) + 1;  // 0 would be no limit
  Effort effort{.variants = {.rounds = 41, .least_rounds = quick ? 3 : 5, .budget_ms = 0.3 * ms},
                .peers = {.rounds = quick ? 21 : 45,
                          .least_rounds = 2,
                          .beaten_ratio = 1.5,
                          .close_rounds = quick ? 3 : 9,
                          .close_interval = quick ? 1 : 0.04},
                .cold = {.rounds = 21, .least_rounds = 2, .budget_ms = 0.03 * ms},
                .tune_seconds = arguments.tune_seconds};
  if (quick) effort.peer_types = {ir::DType::f32};
  effort.peers.budget_ms = 0.4 * ms / static_cast<double>(effort.peer_types.size());
  for (TimingOptions* options : {&effort.variants, &effort.peers, &effort.cold}) {
    options->warm_up_ms = quick ? 1 : 2;
    options->sample_ms = quick ? 0.5 : 1;
    options->seed = arguments.seed;
  }
  return effort;
}

/// Starts all, then waits for each: libraries take seconds to load.
Status start_peers(const Arguments& arguments, Machine& machine, Report& report) {
  if (arguments.python.empty()) return {};
  std::vector<Peer> started;
  for (const char* name : {"numpy", "torch", "torch-static", "torch-dynamic", "onnxruntime", "jax"})
    for (const int threads : {1, 2}) {
      if (arguments.short_rows && (threads > 1 || std::string_view(name).starts_with("torch-"))) continue;
      PADLOCK_TRY(Peer peer, Peer::start(arguments.python, arguments.folder + "/host_peers.py", name, threads));
      started.push_back(std::move(peer));
    }
  for (Peer& peer : started) {
    const Result<std::string> version = peer.version();
    const std::string& text = version ? *version : version.error().message;
    JsonWriter line = json_line("peer");
    line.member("name", peer.name())
        .member("threads", peer.threads())
        .member("found", version ? 1 : 0)
        .member("version", text);
    report.add_line(std::move(line));
    fmt::print("peer {}, {} thread(s): {}\n", peer.name(), peer.threads(), version ? text : "not found: " + text);
    if (version) machine.peers.push_back(std::move(peer));
  }
  return {};
}

Status open_cache(const Arguments& arguments, Machine& machine) {
  if (arguments.cache.empty()) return {};
  machine.tuned = std::make_unique<session::Context>(session::ContextOptions{.threads = 1, .parallel_for = {}});
  tuner::StoreOptions options;
  options.mode = tuner::Mode::read_write;
  options.user_file = arguments.cache;
  return machine.tuned->use_cache(options);
}

void add_time(Report& report, const char* what, const std::vector<double>& samples_ms) {
  JsonWriter line = json_line("time");
  line.member("what", what).member("unit", "ms");
  add_estimate(line, "value", bootstrap_median(samples_ms, 1));
  report.add_line(std::move(line));
}

Status add_memory(Report& report) {
  PADLOCK_TRY(const MemoryUse use, memory_use_of(folder_of_this() + "/padlock_bench_host"));
  for (const auto& [what, kib] :
       {std::pair("idle context", use.idle_context), std::pair("compiled variant", use.compiled_variant)}) {
    JsonWriter line = json_line("memory");
    line.member("what", what).member("unit", "KiB").member("value", kib);
    report.add_line(std::move(line));
    fmt::print("private memory of {}: {:.0f} KiB\n", what, kib);
  }
  fmt::print("\n");
  return {};
}

/// Measures what costs once a program or once a process.
Status run_costs(const Arguments& arguments, Machine& machine, Report& report) {
  const TimingOptions options{.rounds = arguments.quick ? 11 : 31,
                              .warm_up_ms = arguments.quick ? 10.0 : 50.0,
                              .sample_ms = 2,
                              .seed = arguments.seed};
  PADLOCK_CHECK(run_call(machine, options, report));
  PADLOCK_TRY(const Comparison warm, warm_compile(machine.one, options));
  report.add(warm);
  add_time(report, "compile warm", warm.rows.back().samples_ms);
  PADLOCK_TRY(const auto first, first_compiles_ms(folder_of_this() + "/padlock_bench_host", arguments.quick ? 7 : 21));
  add_time(report, "compile first", first);
  fmt::print("text to callable, rank 4, first of a process: {:.1f} ms\n\n", median(first));
  if (arguments.quick) return {};
  PADLOCK_TRY(const Comparison proofs, proof_times(machine.one, options));
  report.add(proofs);
  PADLOCK_TRY(const Comparison steps, capi_times(options));
  report.add(steps);
  PADLOCK_CHECK(add_memory(report));
  PADLOCK_TRY(const Comparison look_ups, cache_look_ups(options));
  report.add(look_ups);
  if (access(arguments.command.c_str(), X_OK) != 0) {
    fmt::print("whole process, cold: not measured, {} cannot be run\n", arguments.command);
    return {};
  }
  PADLOCK_TRY(const Comparison cold, cold_process(arguments.command, options));
  report.add(cold);
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  PADLOCK_TRY(AtomicFile file, AtomicFile::create(path));
  PADLOCK_CHECK(file.write(text));
  return file.commit();
}

struct CaseOf {
  PadCase pad;
  bool is_program;  ///< of the forty; else of the sweep over sizes
};

Result<std::vector<CaseOf>> cases_of(const Arguments& arguments) {
  PADLOCK_TRY(const std::string text, read_text_file(arguments.folder + "/cases.txt", std::int64_t{1} << 20));
  std::vector<CaseOf> all;
  for (const bool is_program : {true, false}) {
    PADLOCK_TRY(std::vector<PadCase> cases, parse_cases(text, is_program ? "programs" : "sweep"));
    for (PadCase& pad : cases)
      if (pad.name.contains(arguments.only)) all.push_back({std::move(pad), is_program});
  }
  return all;
}

Status run_cases(const Arguments& arguments, Machine& machine, Report& report) {
  PADLOCK_TRY(const std::vector<CaseOf> cases, cases_of(arguments));
  const double seconds = arguments.seconds > 0 ? arguments.seconds : arguments.quick ? 45 : 480;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Effort effort =
        effort_of(arguments, (seconds - seconds_since(begin)) / static_cast<double>(cases.size() - i));
    PADLOCK_CHECK((cases[i].is_program ? run_case : run_size)(machine, cases[i].pad, effort, report));
    fmt::print(stderr, "{:6.1f} s: {}\n", seconds_since(begin), cases[i].pad.name);
    // Keep what is measured, whatever comes.
    PADLOCK_CHECK(write_file(arguments.json, report.json()));
  }
  return {};
}

Status run_all_short_rows(const Arguments& arguments, Machine& machine, Report& report) {
  const bool quick = arguments.quick;
  const TimingOptions options{.rounds = quick ? 11 : 31,
                              .least_rounds = 2,
                              .beaten_ratio = 1.5,
                              .close_rounds = quick ? 5 : 11,
                              .close_interval = 0.04,
                              .warm_up_ms = 1,
                              .sample_ms = quick ? 0.3 : 1,
                              .seed = arguments.seed};
  for (const PadSpec& rows : short_rows(std::int64_t{4} << 20)) {
    if (!rows.pad.name.contains(arguments.only)) continue;
    PADLOCK_CHECK(run_short_rows(machine, rows, options, report));
    fmt::print(stderr, "{}\n", rows.pad.name);
    PADLOCK_CHECK(write_file(arguments.json, report.json()));
  }
  return {};
}

Status run(const Arguments& arguments) {
  const Provenance provenance = provenance_of_this_machine(arguments.commit, arguments.seed);
  Report report(provenance, !arguments.quick);
  fmt::print("{}, {} threads, seed {}\n\n", provenance.cpu, provenance.hardware_threads, provenance.seed);
  const TemporaryFolder folder;
  Machine machine;
  machine.folder = folder.path();
  machine.target = arguments.target;
  machine.cache_bytes = bytes_beyond_caches();
  PADLOCK_CHECK(open_cache(arguments, machine));
  PADLOCK_CHECK(start_peers(arguments, machine, report));
  if (arguments.short_rows) return run_all_short_rows(arguments, machine, report);
  if (arguments.only.empty()) PADLOCK_CHECK(run_costs(arguments, machine, report));
  PADLOCK_CHECK(run_cases(arguments, machine, report));
  return write_file(arguments.json, report.json());
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  arguments.command = folder_of_this() + "/padlock";
  arguments.folder = access(PADLOCK_BENCH_FOLDER "/cases.txt", R_OK) == 0 ? PADLOCK_BENCH_FOLDER : folder_of_this();
  CLI::App app("Times Padlock on the host beside memcpy and beside what else pads there.");
  app.option_defaults()->take_last();
  app.add_flag("--quick", arguments.quick, "about a minute: fewer rounds, peers for f32 alone");
  auto* const short_rows =
      app.add_flag("--short-rows", arguments.short_rows, "only the table of rows of 1 to 64 bytes");
  app.add_option("--target", arguments.target,
                 "what short rows are compiled for: host:x86-64-v2 has vectors of 16 bytes")
      ->needs(short_rows);
  app.add_option("--peers", arguments.python, "a Python whose packages are compared with; else none");
  app.add_option("--only", arguments.only, "cases whose name has this in it, and nothing else");
  app.add_option("--cache", arguments.cache, "a tuning cache: the default config is compared with what it has");
  app.add_option("--tune-seconds", arguments.tune_seconds, "tunes each case that the cache does not have")
      ->check(CLI::Range(0.0, 600.0));
  app.add_option("--seconds", arguments.seconds, "what all cases take, about; what is large takes what it must")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--seed", arguments.seed, "of the order in which contestants run");
  app.add_option("--json", arguments.json, "write the figures to this file as JSON lines");
  app.add_option("--commit", arguments.commit, "goes into the JSON lines");
  app.add_option("--command", arguments.command, "the padlock command to time");
  app.add_option("--folder", arguments.folder, "where cases.txt and host_peers.py are");
  app.add_flag("--first-compile", arguments.first_compile, "only print the milliseconds of one compilation");
  app.add_flag("--memory", arguments.memory, "only print the KiB of an idle context and of a compiled variant");
  CLI11_PARSE(app, argc, argv);
  if (arguments.first_compile) {
    const auto ms = first_compile_ms();
    if (ms) fmt::print("{}\n", *ms);
    return ms ? 0 : 1;
  }
  if (arguments.memory) {
    const auto use = memory_use();
    if (use) fmt::print("{} {}\n", use->idle_context, use->compiled_variant);
    return use ? 0 : 1;
  }
  const Status status = run(arguments);
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_host: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
