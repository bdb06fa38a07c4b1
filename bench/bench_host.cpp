// Times Padlock on this machine's CPU beside memcpy and beside the same thing written in C++, and what compiling
// and the tuning cache cost.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>

#include "api/context.h"
#include "bench/cache_times.h"
#include "bench/compile_times.h"
#include "bench/harness.h"
#include "bench/pad_problem.h"
#include "bench/report.h"
#include "support/file.h"

namespace padlock::bench {
namespace {

struct Arguments {
  Options options;
  int threads = 1;
  std::string json;
  std::string commit;
  std::string command;
};

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};
constexpr std::array kShapes = {Shape{8192, 8192}, Shape{65536, 1000}, Shape{1024, 1024}};

/// Prints a comparison for people and collects it for `--json`.
class Report {
 public:
  explicit Report(const Provenance& provenance) : json_(to_json_line(provenance)) {
    fmt::print("{}, {} threads\n\n", provenance.cpu, provenance.hardware_threads);
  }
  void add(const Comparison& comparison) {
    fmt::print("{}\n", to_table(comparison));
    std::fflush(stdout);
    json_ += to_json_lines(comparison);
  }
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  std::string json_;
};

Status run(const Arguments& arguments, Report& report) {
  api::Context context({.threads = arguments.threads, .parallel_for = {}});
  for (const Shape& shape : kShapes) {
    PADLOCK_TRY(const auto problem, PadProblem::create(context, shape.rows, shape.columns));
    const std::string title =
        fmt::format("pad 1 and relu, f32, {}x{}, {} thread(s)", shape.rows, shape.columns, arguments.threads);
    report.add(compare(title, problem->bytes(), problem->contestants(), arguments.options));
  }
  PADLOCK_TRY(const Comparison warm, warm_compile(context, arguments.options));
  report.add(warm);
  PADLOCK_TRY(const Comparison proofs, proof_times(context, arguments.options));
  report.add(proofs);
  PADLOCK_TRY(const Comparison look_ups, cache_look_ups(arguments.options));
  report.add(look_ups);
  if (access(arguments.command.c_str(), X_OK) != 0) {
    fmt::print("whole process, cold: not measured, {} cannot be run\n", arguments.command);
    return {};
  }
  PADLOCK_TRY(const Comparison cold, cold_process(arguments.command, arguments.options));
  report.add(cold);
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  PADLOCK_TRY(AtomicFile file, AtomicFile::create(path));
  PADLOCK_CHECK(file.write(text));
  return file.commit();
}

/// The padlock command of the same build.
std::string command_beside_this() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + "padlock";
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  arguments.command = command_beside_this();
  CLI::App app("Times Padlock on the host beside memcpy and beside a loop written by hand.");
  app.add_option("--rounds", arguments.options.rounds, "samples of each contestant")->check(CLI::Range(1, 10000));
  app.add_option("--threads", arguments.threads, "threads of Padlock's pool")->check(CLI::Range(1, 1024));
  app.add_option("--seed", arguments.options.seed, "of the order in which contestants run");
  app.add_option("--json", arguments.json, "write the figures to this file as JSON lines");
  app.add_option("--commit", arguments.commit, "goes into the JSON lines");
  app.add_option("--command", arguments.command, "the padlock command to time");
  CLI11_PARSE(app, argc, argv);

  Report report(provenance_of_this_machine(arguments.commit));
  Status status = run(arguments, report);
  if (status && !arguments.json.empty()) status = write_file(arguments.json, report.json());
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_host: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
